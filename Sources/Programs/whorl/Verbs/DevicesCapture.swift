// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import WhorlFingerprint
import GreyscalePNG
import TerminalPrompt
import WhorlService
import WhorlSupport

/// The command `whorl devices capture`.
struct DevicesCapture: Verb {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Saves one picture of a finger, pixel for pixel what the driver gave.",
        discussion: """
            The file is an 8-bit greyscale PNG that only this user may read. It is a picture of a finger: delete \
            it when it is no longer needed. Readers that match on the chip give no pictures. Example:

              whorl devices capture --output finger.png
            """
    )

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write; what is there is replaced.", valueName: "file"),
        completion: .file(extensions: ["png"])
    )
    var output: String

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !output.isEmpty else { throw ValidationError("--output must name a file.") }
    }

    func answer(_ session: Session) async throws(Failure) -> Answer {
        // The place is checked before a finger is asked for.
        try failing { () throws(GreyscalePNGError) in try GreyscalePNG.checkPlace(output) }
        let reader = try await session.ownReader()
        let image = try await Activity.run(
            "Take a picture of a finger",
            at: await reader.info,
            console: session.console,
            success: { _ in .finished("Taken.") },
            failure: "No picture was taken."
        ) { (activity) async throws(Failure) in
            try await capture(reader, activity)
        }
        try failing { () throws(GreyscalePNGError) in
            try GreyscalePNG.write(output, width: image.width, height: image.height, pixels: image.pixels)
        }
        return Answer(
            result: [
                "output": .string(output), "width": .integer(image.width), "height": .integer(image.height),
            ],
            text: ["\(DisplayText.clean(output, limit: 1000)): \(image.width) × \(image.height) pixels"]
        )
    }

    private func capture(
        _ reader: any FingerprintReader,
        _ activity: Activity
    ) async throws(Failure) -> FingerprintImage {
        try await failing { () async throws(ReaderError) in try await reader.open() }
        do throws(Failure) {
            let image = try await patiently(global.patience, observer: activity.scan) {
                (observer) async throws(ReaderError) in
                try await reader.capture(whenBusy: .fail, observer: observer)
            }
            await closeAnyway(reader)
            return image
        } catch {
            await closeAnyway(reader)
            throw error
        }
    }
}

/// Closes a reader whose work has a result already, cancelled or not; an error of closing does not change the result.
func closeAnyway(_ reader: any FingerprintReader) async {
    await Task { try? await reader.close() }.value
}
