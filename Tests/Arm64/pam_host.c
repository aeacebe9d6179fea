/* SPDX-License-Identifier: Apache-2.0
 *
 * A host for the PAM module where libpam is not: it has the few functions that the module calls, and prints what the module
 * answers and says. usage: pam_host SOCKET [OPTION…] */
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct pam_handle {
    char password[PAM_MAX_RESP_SIZE];
};

int pam_get_item(const pam_handle_t *handle, int item, const void **value) {
    *value = item == PAM_SERVICE ? "sudo" : item == PAM_USER ? "root" : NULL;
    if (item == PAM_AUTHTOK && *handle->password) *value = handle->password;
    return PAM_SUCCESS;
}

int pam_set_item(pam_handle_t *handle, int item, const void *value) {
    if (item != PAM_AUTHTOK) return PAM_BAD_ITEM;
    snprintf(handle->password, sizeof handle->password, "%s", (const char *)value);
    return PAM_SUCCESS;
}

int pam_get_user(pam_handle_t *handle, const char **user, const char *prompt) {
    (void)handle, (void)prompt;
    *user = "root";
    return PAM_SUCCESS;
}

/* An arm64 program of glibc may not find this system's user database by itself. */
static struct passwd root = { .pw_name = (char *)"root", .pw_uid = 0, .pw_gid = 0, .pw_dir = (char *)"/root" };

struct passwd *pam_modutil_getpwnam(pam_handle_t *handle, const char *name) {
    (void)handle;
    return strcmp(name, "root") ? NULL : &root;
}

struct spwd *pam_modutil_getspnam(pam_handle_t *handle, const char *name) {
    (void)handle, (void)name;
    return NULL;
}

int pam_prompt(pam_handle_t *handle, int style, char **answer, const char *format, ...) {
    va_list words;
    (void)handle;
    if (answer) return PAM_CONV_ERR;
    printf("said %d: ", style);
    va_start(words, format);
    vprintf(format, words);
    va_end(words);
    printf("\n");
    return PAM_SUCCESS;
}

void pam_syslog(const pam_handle_t *handle, int priority, const char *format, ...) {
    va_list words;
    (void)handle;
    printf("log %d: ", priority);
    va_start(words, format);
    vprintf(format, words);
    va_end(words);
    printf("\n");
}

int main(int count, char **words) {
    pam_handle_t handle = { "" };
    char place[200];
    const char *options[8] = { place };
    if (count < 2 || count > 8) return 64;
    snprintf(place, sizeof place, "socket=%s", words[1]);
    for (int i = 2; i < count; i++) options[i - 1] = words[i];
    int answer = pam_sm_authenticate(&handle, 0, count - 1, options);
    printf("answer %d\npassword %s\nsetcred %d, account %d\n", answer, handle.password, pam_sm_setcred(&handle, 0, 0, NULL),
           pam_sm_acct_mgmt(&handle, 0, 0, NULL));
    return 0;
}
