// SPDX-License-Identifier: Apache-2.0

/// The effect of one press on the finger, which consists of its position, the stretch of its skin, and the area and
/// force of its touch.
struct FingerPress {
    /// The limits for random presses of one quality.
    private struct Limits {
        /// The maximum shift in x and in y, in pixels.
        var shift: Double
        /// The maximum rotation, in degrees.
        var turn: Double
        /// The stretch of the skin, as a multiple of the usual 0.45 to 1.5 pixels.
        var stretch: Double
        /// The standard deviation of the noise where the skin touches the sensor, in gray values.
        var noise: Double
        /// The range of the contact's half width, as a fraction of the image's width, followed by that of its half
        /// height.
        var contactWidth: ClosedRange<Double>
        var contactHeight: ClosedRange<Double>

        init(
            shift: Double,
            turn: Double,
            stretch: Double,
            noise: Double,
            width: ClosedRange<Double>,
            height: ClosedRange<Double>
        ) {
            self.shift = shift
            self.turn = turn
            self.stretch = stretch
            self.noise = noise
            contactWidth = width
            contactHeight = height
        }

        init(_ quality: PressQuality) {
            switch quality {
            case .careful:
                self.init(shift: 6, turn: 3, stretch: 0.5, noise: 15, width: 0.95...1, height: 0.92...1)
            case .normal:
                self.init(shift: 15, turn: 8, stretch: 1, noise: 25, width: 0.85...1, height: 0.8...1)
            case .hard:
                self.init(shift: 25, turn: 15, stretch: 2, noise: 50, width: 0.7...0.9, height: 0.65...0.9)
            case .partial, .blank:
                self.init(shift: 15, turn: 8, stretch: 1, noise: 25, width: 0.27...0.3, height: 0.2...0.23)
            }
        }
    }

    private static let width = FingerMaster.width
    private static let height = FingerMaster.height

    /// The gray value of the white background.
    private static let white = 255.0

    private let turn: (sin: Double, cos: Double)
    private let shift: (x: Double, y: Double)
    private let stretch: [PlaneWave]
    private let contact: Contact
    private let pressure: Pressure
    private let noise: Double
    private var grain: RandomSource

    /// Creates a press from a stream of random numbers.
    init(quality: PressQuality, random: RandomSource) {
        var random = random
        let limits = Limits(quality)
        turn = PortableMath.sinAndCos(random.within(limits.turn) * PortableMath.pi / 180)
        shift = (random.within(limits.shift), random.within(limits.shift))
        var waves: [PlaneWave] = []
        for _ in 0..<4 {
            waves.append(
                PlaneWave(
                    amplitude: limits.stretch * random.uniform(0.45, 1.5),
                    wavelength: random.uniform(120, 260),
                    random: &random
                )
            )
        }
        stretch = waves
        contact = Contact(
            x: Double(Self.width) / 2 + shift.x / 2 + random.within(4),
            y: Double(Self.height) / 2 + shift.y / 2 + random.within(6),
            halfWidth: (Double(Self.width) / 2 - 4)
                * random.uniform(limits.contactWidth.lowerBound, limits.contactWidth.upperBound),
            halfHeight: (Double(Self.height) / 2 - 4)
                * random.uniform(limits.contactHeight.lowerBound, limits.contactHeight.upperBound),
            random: &random
        )
        pressure = Pressure(width: Self.width, height: Self.height, random: &random)
        noise = limits.noise
        grain = random
    }

    /// The image of an empty sensor.
    static let blank = GrayImage(
        unchecked: [UInt8](repeating: 255, count: width * height),
        width: width,
        height: height
    )

    /// Returns the image of `master` that the reader takes in this press.
    func image(of master: FingerMaster) -> GrayImage {
        var grain = grain
        let waves = stretch.map { SampledWave($0, width: Self.width, height: Self.height) }
        var pixels = [UInt8](repeating: 255, count: Self.width * Self.height)
        pixels.withUnsafeMutableBufferPointer { pixels in
            master.relief.withUnsafeBufferPointer { relief in
                var index = 0
                for y in 0..<Self.height {
                    for x in 0..<Self.width {
                        var gray = Self.white
                        let touch = contact.strength(x: Double(x), y: Double(y))
                        if touch > 0, let skin = height(ofSkinAt: x, y, waves: waves, relief: relief) {
                            let pressed = min(max(skin + pressure.value(x, y), -1), 1)
                            gray += (128 - 95 * pressed - Self.white) * touch
                        }
                        gray += grain.gaussian() * (gray < Self.white ? noise : 5)
                        pixels[index] = UInt8(min(max(gray, 0), 255).rounded())
                        index += 1
                    }
                }
            }
        }
        return GrayImage(unchecked: pixels, width: Self.width, height: Self.height)
    }

    /// Returns the master's height under a pixel of the image, from -1 to 1, or `nil` beyond the master's edge.
    private func height(
        ofSkinAt x: Int,
        _ y: Int,
        waves: [SampledWave],
        relief: UnsafeBufferPointer<Int8>
    ) -> Double? {
        let (middleX, middleY) = (Double(Self.width) / 2, Double(Self.height) / 2)
        let (dx, dy) = (Double(x) - middleX - shift.x, Double(y) - middleY - shift.y)
        var fromX = middleX + turn.cos * dx + turn.sin * dy
        var fromY = middleY - turn.sin * dx + turn.cos * dy
        for index in 0..<waves.count {
            let by = waves[index].value(x, y)
            fromX += by * stretch[index].direction.x
            fromY += by * stretch[index].direction.y
        }

        let (left, top) = (Int(fromX.rounded(.down)), Int(fromY.rounded(.down)))
        guard left >= 0, top >= 0, left < Self.width - 1, top < Self.height - 1 else { return nil }
        let (partX, partY) = (fromX - Double(left), fromY - Double(top))
        let corner = top * Self.width + left
        let above = Double(relief[corner]) * (1 - partX) + Double(relief[corner + 1]) * partX
        let below =
            Double(relief[corner + Self.width]) * (1 - partX)
            + Double(relief[corner + Self.width + 1]) * partX
        return (above * (1 - partY) + below * partY) / 127
    }
}

/// The part of the sensor that the skin touches, which is an ellipse with an uneven rim.
private struct Contact {
    private let x: Double
    private let y: Double
    private let halfWidth: Double
    private let halfHeight: Double
    private let lobePhases: (Double, Double)

    /// The fraction of the radius along which the print fades to white.
    private static let fade = 0.06

    /// The amplitudes of the rim's waves with three and with seven lobes, as fractions of the radius.
    private static let lobes = (0.06, 0.04)

    init(x: Double, y: Double, halfWidth: Double, halfHeight: Double, random: inout RandomSource) {
        self.x = x
        self.y = y
        self.halfWidth = halfWidth
        self.halfHeight = halfHeight
        lobePhases = (random.uniform(0, 2 * PortableMath.pi), random.uniform(0, 2 * PortableMath.pi))
    }

    /// Returns how strongly the skin touches the sensor at a point: 1 inside, 0 outside, and a value in between in the
    /// fading rim.
    func strength(x: Double, y: Double) -> Double {
        let (dx, dy) = ((x - self.x) / halfWidth, (y - self.y) / halfHeight)
        let radius = (dx * dx + dy * dy).squareRoot()
        // Most points are so far from the rim that its lobes do not matter.
        guard radius > 1 - Self.lobes.0 - Self.lobes.1 - Self.fade else { return 1 }
        guard radius < 1 + Self.lobes.0 + Self.lobes.1 else { return 0 }
        let angle = PortableMath.atan2(dy, dx)
        let rim =
            1 - Self.lobes.0 * PortableMath.sin(3 * angle + lobePhases.0)
            - Self.lobes.1 * PortableMath.sin(7 * angle + lobePhases.1)
        return min(max((rim - radius) / Self.fade, 0), 1)
    }
}

/// The pressure on the skin at each point, which is added to the skin's height.
private struct Pressure {
    /// The distance between the random points of a blotch, in pixels.
    private static let blotchStep = 4

    private let base: Double
    private let slope: (x: Double, y: Double)
    private let blotches: [Double]
    private let blotchColumns: Int
    private let size: (width: Double, height: Double)

    init(width: Int, height: Int, random: inout RandomSource) {
        base = random.within(0.25)
        slope = (random.within(0.2), random.within(0.2))
        size = (Double(width), Double(height))
        blotchColumns = width / Self.blotchStep + 2
        var blotches: [Double] = []
        for _ in 0..<blotchColumns * (height / Self.blotchStep + 2) {
            blotches.append(0.25 * random.gaussian())
        }
        self.blotches = blotches
    }

    func value(_ x: Int, _ y: Int) -> Double {
        let (column, partX) = (x / Self.blotchStep, Double(x % Self.blotchStep) / Double(Self.blotchStep))
        let (row, partY) = (y / Self.blotchStep, Double(y % Self.blotchStep) / Double(Self.blotchStep))
        let corner = row * blotchColumns + column
        let above = blotches[corner] * (1 - partX) + blotches[corner + 1] * partX
        let below =
            blotches[corner + blotchColumns] * (1 - partX) + blotches[corner + blotchColumns + 1] * partX
        return base
            + slope.x * (2 * Double(x) / size.width - 1)
            + slope.y * (2 * Double(y) / size.height - 1)
            + above * (1 - partY) + below * partY
    }
}
