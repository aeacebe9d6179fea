// SPDX-License-Identifier: Apache-2.0
//
// The parts of libcurl that whorl-login-http uses. libcurl's functions for options accept a value of any type, so Swift
// cannot call them: this file has one function for each type.
#pragma once
#if !__has_include(<curl/curl.h>)
#error "whorl-login-http requires libcurl's headers: apt install libcurl4-openssl-dev (Fedora: libcurl-devel, Arch: curl)"
#endif
#include <curl/curl.h>

// Values of options, which are members of enumerations or macros, depending on the version.
static const long whorl_curl_http_1_1 = CURL_HTTP_VERSION_1_1;
static const long whorl_curl_tls_1_2 = CURL_SSLVERSION_TLSv1_2;
static const long whorl_curl_netrc_ignored = CURL_NETRC_IGNORED;
static const long whorl_curl_header_separate = CURLHEADER_SEPARATE;
static const long whorl_curl_global_default = CURL_GLOBAL_DEFAULT;

typedef size_t (*whorl_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode whorl_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode whorl_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode whorl_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode whorl_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode whorl_curl_set_receiver(CURL *handle, CURLoption option, whorl_curl_receiver value) {
    return curl_easy_setopt(handle, option, value);
}

// Calls a function about once a second during a request; the request ends when the function returns a nonzero number.
static inline CURLcode whorl_curl_set_watch(CURL *handle, curl_xferinfo_callback value) {
    CURLcode status = curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    return status != CURLE_OK ? status : curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, value);
}

// Allows only one protocol, "http" or "https"; the option that takes its name was added in libcurl 7.85.
static inline CURLcode whorl_curl_set_protocol(CURL *handle, int secure) {
#if LIBCURL_VERSION_NUM >= 0x075500
    const char *name = secure ? "https" : "http";
    CURLcode status = curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, name);
    return status != CURLE_OK ? status : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, name);
#else
    long number = secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP;
    CURLcode status = curl_easy_setopt(handle, CURLOPT_PROTOCOLS, number);
    return status != CURLE_OK ? status : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, number);
#endif
}

// Prevents a name server that does not respond from delaying the end of a request (libcurl 7.87).
static inline CURLcode whorl_curl_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    return handle != NULL ? CURLE_OK : CURLE_FAILED_INIT;
#endif
}

static inline CURLcode whorl_curl_get_number(CURL *handle, CURLINFO information, long *value) {
    return curl_easy_getinfo(handle, information, value);
}

static inline CURLcode whorl_curl_get_size(CURL *handle, CURLINFO information, curl_off_t *value) {
    return curl_easy_getinfo(handle, information, value);
}

// Returns a string that belongs to the handle.
static inline const char *whorl_curl_get_text(CURL *handle, CURLINFO information) {
    char *text = NULL;
    return curl_easy_getinfo(handle, information, &text) == CURLE_OK ? text : NULL;
}
