import Testing
import Yams
@Test func empty() {}
