// SPDX-License-Identifier: Apache-2.0

/// The direction of one finger's ridges at each point.
///
/// Ridges turn by half a turn around a core and by minus half a turn around a delta. The positions of these points
/// determine the class of the print. In addition, four slow waves bend the ridges the way growth does, and distinguish
/// two fingers of the same class. With a third of their amplitude, the matcher confuses different fingers far more
/// often. It also does so with twice the amplitude, because the ridges then break into regular fans.
///
/// Positions are in pixels from the top left, with y growing downward, and all lengths are scaled to the image's size.
struct OrientationField {
    /// A point around which ridges turn.
    private struct Point {
        var x: Double
        var y: Double
    }

    /// The supported classes of prints.
    ///
    /// Plain arches are omitted because they resemble each other, having no cores or deltas.
    private enum Pattern {
        case rightLoop, leftLoop, whorl, tentedArch, doubleLoop

        /// Chooses a random class.
        ///
        /// About a quarter of the results are loops to each side, a third are whorls, and a twelfth belong to each of
        /// the other classes.
        init(from random: inout RandomSource) {
            switch random.choice(of: 4) {
            case 0: self = .rightLoop
            case 1: self = .leftLoop
            case 2: self = .whorl
            default:
                switch random.choice(of: 3) {
                case 0: self = .whorl
                case 1: self = .tentedArch
                default: self = .doubleLoop
                }
            }
        }
    }

    private var cores: [Point] = []
    private var deltas: [Point] = []
    private var bends: [PlaneWave] = []

    /// Creates a random field for an image of `width` × `height` pixels.
    init(width: Int, height: Int, random: inout RandomSource) {
        // These lengths apply to 256 × 360 pixels, except for those compared with the ridge period.
        let sx = Double(width) / 256
        let sy = Double(height) / 360
        let middle = Point(
            x: Double(width) / 2 + random.within(30) * sx,
            y: 0.45 * Double(height) + random.within(45) * sy
        )

        func place(_ x: Double, _ y: Double) -> Point { Point(x: middle.x + x, y: middle.y + y) }

        switch Pattern(from: &random) {
        case .rightLoop:
            cores = [middle]
            deltas = [place(random.uniform(30, 110) * sx, random.uniform(40, 140) * sy)]
        case .leftLoop:
            cores = [middle]
            deltas = [place(-random.uniform(30, 110) * sx, random.uniform(40, 140) * sy)]
        case .tentedArch:
            cores = [middle]
            deltas = [place(random.within(25), random.uniform(50, 120) * sy)]
        case .whorl:
            let (q, g) = (random.within(25), random.uniform(8, 30))
            cores = [place(-q, -g), place(q, g)]
            deltas = [
                place(-random.uniform(55, 110) * sx, random.uniform(30, 130) * sy),
                place(random.uniform(55, 110) * sx, random.uniform(30, 130) * sy),
            ]
        case .doubleLoop:
            let (q, g) = (random.within(35), random.uniform(25, 45))
            cores = [place(-q, -g), place(q, g)]
            deltas = [
                place(-random.uniform(60, 110) * sx, random.uniform(0, 130) * sy),
                place(random.uniform(60, 110) * sx, random.uniform(0, 130) * sy),
            ]
        }

        for _ in 0..<4 {
            bends.append(
                PlaneWave(
                    amplitude: 0.4 * random.uniform(0.3, 1),
                    wavelength: 170 / random.uniform(0.5, 1.6),
                    random: &random
                )
            )
        }
    }

    /// Returns, row by row, the direction nearest to that of each pixel, out of `count` directions that divide half a
    /// turn evenly.
    func directions(width: Int, height: Int, count: Int) -> [UInt8] {
        let waves = bends.map { SampledWave($0, width: width, height: height) }
        let steps = Double(count) / PortableMath.pi
        var result = [UInt8](repeating: 0, count: width * height)
        result.withUnsafeMutableBufferPointer { result in
            var pixel = 0
            for y in 0..<height {
                for x in 0..<width {
                    var angle = turn(x: Double(x), y: Double(y))
                    for wave in waves {
                        angle += wave.value(x, y)
                    }
                    let step = Int((angle * steps).rounded())
                    result[pixel] = UInt8(((step % count) + count) % count)
                    pixel += 1
                }
            }
        }
        return result
    }

    /// Returns half the sum of the angles to the cores minus half the sum of the angles to the deltas, in radians, up
    /// to multiples of half a turn.
    ///
    /// Multiplying complex numbers adds their angles, so one arctangent is enough.
    private func turn(x: Double, y: Double) -> Double {
        var (re, im) = (1.0, 0.0)
        for core in cores {
            let (dx, dy) = (x - core.x, y - core.y)
            (re, im) = (re * dx - im * dy, re * dy + im * dx)
        }
        for delta in deltas {
            let (dx, dy) = (x - delta.x, delta.y - y)
            (re, im) = (re * dx - im * dy, re * dy + im * dx)
        }
        return PortableMath.atan2(im, re) / 2
    }
}

/// A sine wave in the plane with a random direction and phase.
struct PlaneWave {
    /// The height of the wave's crests, in the unit of the values that the wave is added to.
    let amplitude: Double

    /// The unit vector of the wave's direction.
    let direction: (x: Double, y: Double)

    /// The angle that a step of one pixel in x or in y adds, in radians.
    let frequency: (x: Double, y: Double)

    /// The angle at the origin, in radians.
    let phase: Double

    /// Creates a random wave.
    ///
    /// - Parameters:
    ///   - amplitude: The height of the wave's crests.
    ///   - wavelength: The distance from crest to crest, in pixels.
    ///   - random: The source of the direction and the phase.
    init(amplitude: Double, wavelength: Double, random: inout RandomSource) {
        let heading = PortableMath.sinAndCos(random.uniform(0, 2 * PortableMath.pi))
        let step = 2 * PortableMath.pi / wavelength
        self.amplitude = amplitude
        direction = (heading.cos, heading.sin)
        frequency = (heading.cos * step, heading.sin * step)
        phase = random.uniform(0, 2 * PortableMath.pi)
    }
}

/// A wave that is prepared so that it can be read at every pixel.
///
/// Because sin(a + b) = sin a · cos b + cos a · sin b, the wave is split into one table for the columns and one for the
/// rows. Each pixel then costs two products instead of a sine.
struct SampledWave {
    private let columns: [(sin: Double, cos: Double)]
    private let rows: [(sin: Double, cos: Double)]

    init(_ wave: PlaneWave, width: Int, height: Int) {
        columns = (0..<width).map { x in
            let at = PortableMath.sinAndCos(wave.phase + wave.frequency.x * Double(x))
            return (at.sin * wave.amplitude, at.cos * wave.amplitude)
        }
        rows = (0..<height).map { PortableMath.sinAndCos(wave.frequency.y * Double($0)) }
    }

    func value(_ x: Int, _ y: Int) -> Double {
        columns[x].sin * rows[y].cos + columns[x].cos * rows[y].sin
    }
}
