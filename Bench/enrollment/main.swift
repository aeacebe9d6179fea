// SPDX-License-Identifier: Apache-2.0

// Measures what guidance does for a small sensor: the rate at which a finger's own touches are refused, after an enrollment
// of presses of one part and after one of presses of the parts that a guided enrollment asks for. Prints rows of
// Docs/Benchmarks.md.
//
// usage: FP_VIRTUAL_IMAGE=SOCKET EnrollmentBench FINGERS TOUCHES

import Foundation
import WhorlLibfprint
import Synchronization
import SyntheticFingers
import WhorlFingerprint

let words = CommandLine.arguments
guard words.count == 3, let fingers = Int(words[1]), let touches = Int(words[2]),
    let socket = ProcessInfo.processInfo.environment["FP_VIRTUAL_IMAGE"]
else { exit(64) }

/// A sensor that sees a part of the finger, in pixels at 500 per inch: 5.7 mm by 7.3 mm.
let window = (width: 120, height: 156)
/// The farthest places of the window on a finger, from the middle.
let reach = (
    x: (SyntheticFinger.width - window.width) / 2 - 2, y: (SyntheticFinger.height - window.height) / 2 - 2
)

struct Place {
    var x: Int
    var y: Int

    func near(_ distance: Int) -> Place {
        Place(x: x + .random(in: -distance...distance), y: y + .random(in: -distance...distance))
    }

    static var anywhere: Place {
        Place(x: .random(in: -reach.x...reach.x), y: .random(in: -reach.y...reach.y))
    }

    static func of(_ area: FingerArea) -> Place {
        switch area {
        case .center: Place(x: 0, y: 0)
        case .tip: Place(x: 0, y: -reach.y * 3 / 4)
        case .left: Place(x: -reach.x * 3 / 4, y: 0)
        case .right: Place(x: reach.x * 3 / 4, y: 0)
        case .base: Place(x: 0, y: reach.y * 3 / 4)
        }
    }
}

/// Returns the part of a press that the sensor sees.
func picture(_ finger: SyntheticFinger, _ press: Int, _ place: Place) -> GrayImage {
    let image = finger.press(press, quality: .careful)
    let left = min(max((image.width - window.width) / 2 + place.x, 0), image.width - window.width)
    let top = min(max((image.height - window.height) / 2 + place.y, 0), image.height - window.height)
    var pixels: [UInt8] = []
    for row in top..<top + window.height {
        pixels += image.pixels[row * image.width + left..<row * image.width + left + window.width]
    }
    guard let part = GrayImage(width: window.width, height: window.height, pixels: pixels) else {
        fatalError("a picture of the window has as many pixels as the window")
    }
    return part
}

/// Lays pictures on the reader, one for each touch that it asks for.
final class Hand: Sendable {
    private let pictures: Mutex<[GrayImage]>
    private let alike = Mutex(0)

    private let socket: String

    init(_ pictures: [GrayImage], on socket: String) {
        self.pictures = Mutex(pictures.reversed())
        self.socket = socket
    }

    var alikePresses: Int { alike.withLock(\.self) }

    @Sendable func observe(_ event: ScanEvent) {
        if event == .alike { alike.withLock { $0 += 1 } }
        guard event == .touch, let picture = pictures.withLock({ $0.popLast() }) else { return }
        Thread.detachNewThread { [socket] in
            do { try VirtualReader(path: socket).send(.press(picture), timeout: .seconds(60)) } catch {
                FileHandle.standardError.write(Data("EnrollmentBench: error: \(error)\n".utf8))
                exit(1)
            }
        }
    }
}

struct Style {
    let name: String
    let places: () -> [Place]
}

let styles = [
    Style(name: "presses of one part", places: { (0..<5).map { _ in Place(x: 0, y: 0).near(4) } }),
    Style(name: "presses as they come", places: { (0..<5).map { _ in Place(x: 0, y: 0).near(14) } }),
    Style(name: "the five parts in turn", places: { FingerArea.allCases.map { Place.of($0).near(8) } }),
]

let source = LibfprintSource()
guard let reader = try await source.readers().first else { exit(69) }
try await reader.open()
var refused = [Int](repeating: 0, count: styles.count)
var alike = [Int](repeating: 0, count: styles.count)
var asked = 0
for index in 0..<fingers {
    let finger = SyntheticFinger(seed: 0xC0AC_0000 + UInt64(index), cache: nil)
    var templates: [Template] = []
    for (style, number) in zip(styles, styles.indices) {
        let hand = Hand(style.places().enumerated().map { picture(finger, number * 5 + $0, $1) }, on: socket)
        templates.append(
            try await reader.enroll(EnrollmentMetadata(), whenBusy: .wait, observer: hand.observe)
        )
        alike[number] += hand.alikePresses
    }
    // Each touch is compared with all three templates, so that luck is the same for each.
    for touch in 0..<touches {
        let seen = picture(finger, 100 + touch, .anywhere)
        asked += 1
        for (number, template) in templates.enumerated() {
            let hand = Hand([seen], on: socket)
            let result = try await reader.verify(template, whenBusy: .wait, observer: hand.observe)
            guard case .match = result else {
                refused[number] += 1
                continue
            }
        }
    }
}
try await reader.close()
@MainActor func rates(_ counts: [Int], of total: Int) -> String {
    zip(styles, counts).map { style, count in
        "\(style.name): \(String(format: "%.1f", Double(count) / Double(total) * 100)) %"
    }.joined(separator: "; ")
}
print(
    "| own touches that are refused after five presses, on a sensor of \(window.width) × \(window.height) pixels "
        + "(\(fingers) fingers, \(touches) touches of each anywhere) | \(rates(refused, of: asked)) | | |"
)
print(
    "| presses of such an enrollment that are told to show a part again "
        + "| \(rates(alike, of: fingers * 5)) | | |"
)
