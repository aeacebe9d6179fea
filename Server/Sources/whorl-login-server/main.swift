import ArgumentParser
import LoginServer
print("")
