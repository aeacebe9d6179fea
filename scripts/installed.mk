# SPDX-License-Identifier: Apache-2.0
#
# The list of installed files, which scripts/place installs and removes. Each line has a component, a mode, a source,
# and a destination below DESTDIR. The mode `link` creates a symbolic link to the source. A * stands for the same text
# in the source and the destination. In text files, @BINDIR@ and similar names are substituted. Further steps are in the
# Makefile's targets. The packages contain the same files (packaging/debian/*.install). scripts/fprintd-place replaces
# fprintd.
define INSTALLED
program  711   $(WHORL)                                      $(BINDIR)/whorl
program  755   $(PRODUCTS)/whorl-simulate                    $(BINDIR)/whorl-simulate
program  755   $(PRODUCTS)/whorl-login-http                  $(LIBEXECDIR)/whorl-login-http
program  755   $(PRODUCTS)/whorld                            $(LIBEXECDIR)/whorld
program  644   udev/70-whorl-uaccess.rules                   $(SHAREDIR)/70-whorl-uaccess.rules
program  644   $(STAGE)/man/whorl.1                          $(MANDIR)/whorl.1
program  644   $(STAGE)/man/whorl.*.1                        $(MANDIR)/whorl.*.1
program  644   $(STAGE)/man/whorl-simulate.1                 $(MANDIR)/whorl-simulate.1
program  644   $(STAGE)/completions/bash                     $(BASHDIR)/whorl
program  644   $(STAGE)/completions/zsh                      $(ZSHDIR)/_whorl
program  644   $(STAGE)/completions/fish                     $(FISHDIR)/whorl.fish
program  644   $(STAGE)/locale/*/LC_MESSAGES/whorl.mo        $(LOCALEDIR)/*/LC_MESSAGES/whorl.mo

service  644   systemd/whorld.socket                         $(UNITDIR)/whorld.socket
service  644   systemd/whorld.service.in                     $(UNITDIR)/whorld.service
service  644   systemd/whorld.sysusers                       $(SYSUSERSDIR)/whorld.conf
service  644   systemd/whorld.8                              $(MAN8DIR)/whorld.8
service  644   systemd/io.whorl.policy                       $(POLKITDIR)/io.whorl.policy
service  644   udev/99-whorl.rules                           $(UDEVDIR)/99-whorl.rules
service  755   udev/close-readers                            $(LIBEXECDIR)/close-readers
service  755   systemd/userdel-pre                           $(SHADOWDIR)/userdel-pre.d/whorl
service  755   systemd/userdel-post                          $(SHADOWDIR)/userdel-post.d/whorl

pam      644   $(PAM_MODULE)                                 $(PAMDIR)/pam_whorl.so
pam      644   PAM/deploy/whorl.pam-config                   $(PAMCONFIGDIR)/whorl
pam      644   PAM/deploy/whorl-keyring.pam-config           $(PAMCONFIGDIR)/whorl-keyring
pam      644   PAM/deploy/pam_whorl.8                        $(MAN8DIR)/pam_whorl.8

lib      644   $(LIB_BUILD)/libwhorl.so.1                    $(LIBDIR)/libwhorl.so.1
lib      link  libwhorl.so.1                                 $(LIBDIR)/libwhorl.so
lib      644   Library/Headers/whorl.h                       $(INCLUDEDIR)/whorl.h
lib      644   Library/deploy/whorl.pc.in                    $(LIBDIR)/pkgconfig/whorl.pc

ssh      711   $(SSH_BUILD)/whorl-ssh-agent                  $(LIBEXECDIR)/whorl-ssh-agent
ssh      755   SSH/deploy/whorl-ssh-keygen                   $(LIBEXECDIR)/whorl-ssh-keygen
ssh      755   SSH/deploy/age-plugin-whorl                   $(BINDIR)/age-plugin-whorl
ssh      644   SSH/deploy/age-plugin-whorl.1                 $(MANDIR)/age-plugin-whorl.1
ssh      644   SSH/deploy/whorl-ssh-agent.1                  $(MANDIR)/whorl-ssh-agent.1
ssh      644   systemd/whorl-ssh-agent.socket                $(USERUNITDIR)/whorl-ssh-agent.socket
ssh      644   systemd/whorl-ssh-agent.service.in            $(USERUNITDIR)/whorl-ssh-agent.service

# Users can run these programs but not read them. The kernel therefore protects their memory from the user's other
# programs, from the first instruction.
desktop  711   $(DESKTOP_BUILD)/$(CONFIG)/whorl-prompt-wait  $(LIBEXECDIR)/whorl-prompt-wait
desktop  711   $(DESKTOP_BUILD)/$(CONFIG)/whorl-prompt       $(LIBEXECDIR)/whorl-prompt
desktop  711   $(DESKTOP_BUILD)/$(CONFIG)/whorl-settings     $(BINDIR)/whorl-settings
desktop  755   $(DESKTOP_BUILD)/$(CONFIG)/whorl-settings-helper $(LIBEXECDIR)/whorl-settings-helper
desktop  644   systemd/io.whorl.settings.policy.in           $(POLKITDIR)/io.whorl.settings.policy
desktop  711   $(DESKTOP_BUILD)/$(CONFIG)/whorl-keyring      $(LIBEXECDIR)/whorl-keyring
desktop  711   $(DESKTOP_BUILD)/$(CONFIG)/whorl-keyring-dialog $(LIBEXECDIR)/whorl-keyring-dialog
desktop  644   Desktop/deploy/whorl-settings.desktop.in      $(PREFIX)/share/applications/whorl-settings.desktop
desktop  644   Desktop/deploy/whorl-settings.svg             $(PREFIX)/share/icons/hicolor/scalable/apps/whorl-settings.svg
desktop  644   Desktop/deploy/io.whorl.settings.metainfo.xml $(PREFIX)/share/metainfo/io.whorl.settings.metainfo.xml
desktop  644   systemd/whorl-prompt.service.in               $(USERUNITDIR)/whorl-prompt.service
desktop  644   systemd/whorl-keyring.service.in              $(USERUNITDIR)/whorl-keyring.service
desktop  644   systemd/whorl-prompt.desktop.in               $(AUTOSTARTDIR)/whorl-prompt.desktop

server   755   $(SERVER_STAGE)/whorl-login-server            $(BINDIR)/whorl-login-server
server   644   $(SERVER_STAGE)/man/whorl-login-server.1      $(MANDIR)/whorl-login-server.1
server   644   $(SERVER_STAGE)/man/whorl-login-server.*.1    $(MANDIR)/whorl-login-server.*.1
server   644   Server/deploy/whorl-login-server.service.in   $(UNITDIR)/whorl-login-server.service
server   644   Server/deploy/whorl-login-server.sysusers     $(SYSUSERSDIR)/whorl-login-server.conf

kiosk    755   $(KIOSK_BUILD)/release/kiosk-greeter          $(LIBEXECDIR)/kiosk-greeter
kiosk    755   Samples/kiosk/deploy/kiosk-limit              $(LIBEXECDIR)/kiosk-limit
kiosk    644   Samples/kiosk/deploy/greetd.toml.in           $(KIOSK_DATADIR)/greetd.toml
kiosk    644   Samples/kiosk/deploy/pam-passwords.in         $(KIOSK_DATADIR)/pam-passwords
kiosk    644   Samples/kiosk/deploy/pam.in                   /etc/pam.d/whorl-kiosk
kiosk    644   Samples/kiosk/deploy/tmpfiles.conf.in         $(TMPFILESDIR)/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/sysctl.conf              $(SYSCTLDIR)/99-whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/logind.conf              $(SYSTEMDDIR)/logind.conf.d/99-whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/system.conf              $(SYSTEMDDIR)/system.conf.d/99-whorl-kiosk.conf
kiosk    755   Samples/kiosk/deploy/generator                $(SYSTEMDDIR)/system-generators/whorl-kiosk
kiosk    644   Samples/kiosk/deploy/greetd.conf.in           $(UNITDIR)/greetd.service.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/user.conf                $(UNITDIR)/user@.service.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/session.conf             $(UNITDIR)/session-.scope.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/no-console.conf          $(UNITDIR)/getty@.service.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/no-console.conf          $(UNITDIR)/autovt@.service.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/no-console.conf          $(UNITDIR)/serial-getty@.service.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/no-console.conf          $(UNITDIR)/console-getty.service.d/whorl-kiosk.conf
kiosk    644   Samples/kiosk/deploy/polkit.rules             /usr/share/polkit-1/rules.d/10-whorl-kiosk.rules
endef
export INSTALLED
