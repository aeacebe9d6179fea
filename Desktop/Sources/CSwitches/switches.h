// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>

// The switches for all users of the computer. whorl-settings shows them, and whorl-settings-helper changes nothing that
// is not listed here.

// A switch: the end of the polkit action's name, and a PAM service or a profile of pam-auth-update.
struct whorl_switch {
    const char *kind;
    const char *name;
};

static const struct whorl_switch whorl_services[] = {
    { "login", "login" },
    { "login", "gdm-password" },
    { "login", "lightdm" },
    { "login", "sddm" },
    { "login", "plasmalogin" },
    { "login", "greetd" },
    { "login", "cosmic-greeter" },
    { "sudo", "sudo" },
    { "screen-lock", "kde-fingerprint" },
    { "screen-lock", "swaylock" },
    { "screen-lock", "i3lock" },
    { "screen-lock", "gtklock" },
    { "administrator", "polkit-1" },
};

static const struct whorl_switch whorl_profiles[] = {
    { "all", "whorl" },
    { "keyring", "whorl-keyring" },
};

// Returns a service by its number, or NULL after the last one.
static inline const struct whorl_switch *whorl_service(size_t number)
{
    return number < sizeof whorl_services / sizeof *whorl_services ? &whorl_services[number] : NULL;
}

// Returns a profile by its number, or NULL after the last one.
static inline const struct whorl_switch *whorl_profile(size_t number)
{
    return number < sizeof whorl_profiles / sizeof *whorl_profiles ? &whorl_profiles[number] : NULL;
}
