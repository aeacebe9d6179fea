// SPDX-License-Identifier: Apache-2.0
//
// An evaluation in GJS, through the service's socket and without the library: gjs -m touch.js PATH
//
// Only a complete final reply with a method means success. Updates of the prompt are only for display.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

Gio._promisify(Gio.SocketClient.prototype, 'connect_async');
Gio._promisify(Gio.DataInputStream.prototype, 'read_upto_async');
Gio._promisify(Gio.OutputStream.prototype, 'write_all_async');

// A connection to the service. A message is a JSON object followed by a zero byte.
class Connection {
    static async open(path) {
        const connection = new Connection();
        connection.stream = await new Gio.SocketClient().connect_async(Gio.UnixSocketAddress.new(path), null);
        connection.input = new Gio.DataInputStream({baseStream: connection.stream.get_input_stream()});
        // Before Linux 6.5, the kernel does not tell the service which process is connecting.
        const {question} = await connection.call('io.whorl.Connection.Challenge');
        if (question) await connection.call('io.whorl.Connection.Prove', {answer: question});
        return connection;
    }

    // Sends a call and returns its reply. Calls a function for each update.
    async call(method, parameters = {}, update = null) {
        const text = JSON.stringify({method, parameters, ...update && {more: true}});
        await this.stream.get_output_stream().write_all_async(
            new TextEncoder().encode(`${text}\0`), GLib.PRIORITY_DEFAULT, null);
        for (;;) {
            const [message] = await this.input.read_upto_async('\0', 1, GLib.PRIORITY_DEFAULT, null);
            if (message === null) throw new Error('The service hung up before it answered.');
            this.input.read_byte(null);
            const reply = JSON.parse(message);
            if (reply.error) throw new Error(reply.parameters?.message ?? reply.error);
            if (!reply.continues) return reply.parameters;
            await update?.(reply.parameters);
        }
    }
}

async function evaluate(path) {
    const request = {
        policy: 'biometrics',
        purpose: {kind: 'yes'},
        reason: 'open the till',
        application: 'org.example.gjs',
        interactionAllowed: true,
        timeoutMilliseconds: 60000,
        reuseMilliseconds: 0,
    };
    const presenter = {isInteractive: true, takesPasscode: false};
    const [asking, answering] = [await Connection.open(path), await Connection.open(path)];
    const {value} = await asking.call('io.whorl.Owner.Evaluate', {call: {request}, presenter}, async update => {
        if (update.prompt) print(`prompt: ${update.prompt.prompt.reason}`);
        // The service waits until the prompt is no longer shown.
        if (update.end) await answering.call('io.whorl.Prompt.Ended', {prompt: update.end, presenter});
    });
    if (value?.method !== 'biometry') throw new Error('The answer is not understood.');
    return value;
}

const loop = new GLib.MainLoop(null, false);
let status = 1;
evaluate(ARGV[0])
    .then(value => {
        print(`matched: ${value.finger}`);
        status = 0;
    })
    .catch(error => print(error.message))
    .finally(() => loop.quit());
loop.run();
System.exit(status);
