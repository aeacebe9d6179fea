/* SPDX-License-Identifier: Apache-2.0
 *
 * An evaluation with Qt's event loop: qt PATH. A QSocketNotifier watches the descriptor, so it never blocks. */
#include <QCoreApplication>
#include <QDebug>
#include <QSocketNotifier>
#include <whorl.h>

/* Prints the result of the request, and returns the exit status of the program. */
static int told(whorl_context context, int result) {
    const char *message = whorl_text(context, WHORL_TEXT_MESSAGE);
    if (result == WHORL_OK) qInfo("matched: %s", whorl_text(context, WHORL_TEXT_FINGER));
    else qInfo("%s: %s", whorl_status_name(result), *message ? message : whorl_status_text(result));
    return result == WHORL_OK ? 0 : 1;
}

/* Reads the available events, and exits when the request has ended. */
static void dispatch(whorl_context context) {
    for (;;) {
        int event = whorl_dispatch(context);
        if (event < 0) return QCoreApplication::exit(told(context, event));
        if (event == WHORL_EVENT_NONE) return;
        if (event == WHORL_EVENT_PROMPT)
            qInfo("prompt: %s", whorl_text(context, WHORL_TEXT_REASON));
        if (event == WHORL_EVENT_UPDATE && whorl_number(context, WHORL_NUMBER_UPDATE) == WHORL_UPDATE_NO_MATCH)
            qInfo("tries left: %d", int(whorl_number(context, WHORL_NUMBER_TRIES_LEFT)));
        if (event == WHORL_EVENT_DONE) return QCoreApplication::exit(told(context, whorl_result(context)));
    }
}

int main(int count, char **words) {
    QCoreApplication application(count, words);
    whorl_context context = 0;
    struct whorl_asking asking = WHORL_ASKING_INIT;
    asking.reason = "open the till";
    asking.flags = WHORL_SHOWS_PROMPTS;
    if (count < 2 || whorl_open_at(words[1], "org.example.qt", &context)) return 2;
    int status = whorl_evaluate(context, &asking);
    if (status == WHORL_OK) {
        QSocketNotifier notifier(whorl_descriptor(context), QSocketNotifier::Read);
        QObject::connect(&notifier, &QSocketNotifier::activated, [context] { dispatch(context); });
        status = application.exec();
    } else {
        status = told(context, status);
    }
    whorl_close(context);
    return status;
}
