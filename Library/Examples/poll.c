/* SPDX-License-Identifier: Apache-2.0
 *
 * An evaluation with poll(2), in a program that shows the prompts itself: poll PATH [FINGER to enroll first]. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <whorl.h>

/* Waits until a request ends, and shows its prompts. */
static int finish(whorl_context context) {
    for (;;) {
        struct pollfd one = { whorl_descriptor(context), (short)whorl_events(context), 0 };
        poll(&one, 1, -1);
        for (;;) {
            int event = whorl_dispatch(context);
            if (event < 0) return event;
            if (event == WHORL_EVENT_NONE) break;
            if (event == WHORL_EVENT_DONE) return whorl_result(context);
            if (event == WHORL_EVENT_PROMPT)
                printf("prompt: %s: %s\n", whorl_text(context, WHORL_TEXT_TITLE), whorl_text(context, WHORL_TEXT_REASON));
            if (event == WHORL_EVENT_PROGRESS && whorl_number(context, WHORL_NUMBER_UPDATE) == WHORL_UPDATE_STAGE)
                printf("stage: %d of %d\n", (int)whorl_number(context, WHORL_NUMBER_COMPLETED),
                       (int)whorl_number(context, WHORL_NUMBER_TOTAL));
        }
    }
}

int main(int count, char **words) {
    whorl_context context = 0;
    struct whorl_asking asking = WHORL_ASKING_INIT;
    int result;
    if (count < 2 || whorl_open_at(words[1], "org.example.poll", &context)) return 2;
    asking.reason = "open the till";
    asking.flags = WHORL_SHOWS_PROMPTS;
    if (count > 2) {
        result = whorl_enroll(context, words[2], NULL, &asking);
        if (!result) result = finish(context);
        if (result) { printf("not enrolled: %s\n", whorl_text(context, WHORL_TEXT_MESSAGE)); return 1; }
    }
    result = whorl_evaluate(context, &asking);
    if (!result) result = finish(context);
    if (result == WHORL_OK) printf("matched: %s\n", whorl_text(context, WHORL_TEXT_FINGER));
    else printf("%s: %s\n", whorl_status_name(result), whorl_text(context, WHORL_TEXT_MESSAGE));
    whorl_close(context);
    return result ? 1 : 0;
}
