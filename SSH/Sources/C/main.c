/* SPDX-License-Identifier: Apache-2.0
 *
 * whorl-ssh-agent: the options and the socket. */
#include "agent.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

static const char usage[] =
    "usage: whorl-ssh-agent [--socket PATH] [--upstream PATH]\n"
    "\n"
    "SSH agent with keys in the TPM, each of which needs a touch for each signature. Create keys with `whorl ssh create`.\n"
    "\n"
    "  --socket PATH     listen here, instead of on the socket that systemd passes\n"
    "  --upstream PATH   also offer the keys of the agent at this socket\n"
    "  --version         print the version\n"
    "  -h, --help        print this text\n";

static int complain(const char *what, const char *name) {
    const char *cause = errno ? strerror(errno) : "";
    fprintf(stderr, "whorl-ssh-agent: error: %s %s%s%s\n", what, name, *cause ? ": " : "", cause);
    return 1;
}

/* Returns the socket that systemd passed (sd_listen_fds(3)); -1 if it passed none. */
static int passed_socket(void) {
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (!pid || !count || atol(pid) != (long)getpid() || strcmp(count, "1")) return -1;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (fcntl(3, F_SETFD, FD_CLOEXEC) || fcntl(3, F_SETFL, O_NONBLOCK)) return -1;
    return 3;
}

/* Creates a socket in a folder that only the user can enter. A lock keeps a second agent from taking its place. */
static int own_socket(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char folder[sizeof address.sun_path], lock[sizeof address.sun_path + 8];
    struct stat found;
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path || strlen(path) >= sizeof address.sun_path) {
        errno = 0;
        return complain("the path of the socket must be absolute and have fewer than 108 bytes:", path), -1;
    }
    strcpy(address.sun_path, path);
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = 0;
    if (mkdir(folder, 0700) && errno != EEXIST) return complain("cannot create the folder", folder), -1;
    if (lstat(folder, &found) || !S_ISDIR(found.st_mode) || found.st_uid != getuid() || (found.st_mode & 077)) {
        errno = 0;
        return complain("the folder of the socket must be yours alone (mode 0700):", folder), -1;
    }
    snprintf(lock, sizeof lock, "%s.lock", path);
    int locked = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (locked < 0 || flock(locked, LOCK_EX | LOCK_NB)) {
        errno = 0;
        return complain("another agent uses the socket", path), -1;
    }
    if (!lstat(path, &found) && !S_ISSOCK(found.st_mode)) {
        errno = 0;
        return complain("this is not a socket:", path), -1;
    }
    unlink(path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    umask(0177);
    if (made < 0 || bind(made, (const struct sockaddr *)&address, sizeof address) || listen(made, 128))
        return complain("cannot listen on", path), -1;
    return made;
}

static int hangups[2] = { -1, -1 };

static void hang_up(int signal) {
    (void)signal;
    int before = errno;
    ssize_t written = write(hangups[1], "", 1);
    (void)written;
    errno = before;
}

int agent_hangup_descriptor(void) {
    if (hangups[0] < 0) {
        if (pipe2(hangups, O_CLOEXEC | O_NONBLOCK)) return -1;
        signal(SIGHUP, hang_up);
    }
    return hangups[0];
}

size_t agent_read_file(const uint8_t *path, uint8_t *bytes, size_t count) {
    struct stat found;
    size_t place = 0;
    int file = open((const char *)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return 0;
    if (fstat(file, &found) || !S_ISREG(found.st_mode)) count = 0;
    while (place < count) {
        ssize_t got = read(file, bytes + place, count - place);
        if (got <= 0) break;
        place += (size_t)got;
    }
    close(file);
    /* A file that fills the buffer may be longer. */
    return place < count ? place : 0;
}

const char *agent_home(void) {
    const char *home = getenv("HOME");
    return home ? home : "";
}

void agent_tell(pid_t pid, const uint8_t *line, size_t count) {
    fprintf(stderr, "whorl-ssh-agent: %.*s\n", (int)count, (const char *)line);
    /* A program that asks again and again does not fill the terminal. */
    static time_t last;
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) || now.tv_sec == last) return;
    last = now.tv_sec;
    char path[40];
    snprintf(path, sizeof path, "/proc/%ld/fd/2", (long)pid);
    /* A terminal, which does not become this process's own, and which may be stopped. */
    int terminal = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal < 0) return;
    if (isatty(terminal)) dprintf(terminal, "whorl-ssh-agent: %.*s\r\n", (int)count, (const char *)line);
    close(terminal);
}

int main(int count, char **words) {
    const char *path = NULL, *upstream = NULL, *service = getenv("WHORL_SOCKET");
    const char *behind = getenv("WHORL_SSH_UPSTREAM");
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h")) return fputs(usage, stdout) < 0;
        if (!strcmp(words[i], "--version")) return puts(WHORL_VERSION) < 0;
        const char **value = !strcmp(words[i], "--socket") ? &path : !strcmp(words[i], "--upstream") ? &upstream : NULL;
        if (!value || i + 1 == count) return fputs(usage, stderr), 64;
        *value = words[++i];
    }
    /* No other program of the user may read the passphrase of ssh-add -x. */
    struct rlimit none = { 0, 0 };
    if (prctl(PR_SET_DUMPABLE, 0) || setrlimit(RLIMIT_CORE, &none)) return complain("cannot protect", "memory");
    int listening = path ? own_socket(path) : passed_socket();
    if (listening < 0) {
        if (!path) fputs("whorl-ssh-agent: error: systemd passed no socket; use --socket, or whorl ssh enable\n", stderr);
        return 1;
    }
    if (!upstream && behind && *behind) upstream = behind;
    signal(SIGPIPE, SIG_IGN);
    return agent_serve(listening, service && *service ? service : "/run/whorl/io.whorl", upstream);
}
