// SPDX-License-Identifier: Apache-2.0

/// A sine wave over the plane, of random direction and phase.
struct PlaneWave {
    /// The height of its crests, in the unit of what it is added to.
    let amplitude: Double

    /// The unit vector along which it runs.
    let direction: (x: Double, y: Double)

    /// The angle that a step of one pixel in x or in y adds, in radians.
    let frequency: (x: Double, y: Double)

    /// The angle at the origin, in radians.
    let phase: Double

    /// Draws a wave.
    ///
    /// - Parameters:
    ///   - amplitude: The height of its crests.
    ///   - wavelength: Pixels from crest to crest.
    ///   - random: Gives the direction, then the phase.
    init(amplitude: Double, wavelength: Double, random: inout RandomSource) {
        let heading = PortableMath.sinAndCos(random.uniform(0, 2 * PortableMath.pi))
        let step = 2 * PortableMath.pi / wavelength
        self.amplitude = amplitude
        direction = (heading.cos, heading.sin)
        frequency = (heading.cos * step, heading.sin * step)
        phase = random.uniform(0, 2 * PortableMath.pi)
    }
}

/// A wave made ready to be read at every pixel.
///
/// sin(a + b) = sin a · cos b + cos a · sin b parts it into a table for the columns and one for the rows, so
/// a pixel costs two products instead of a sine.
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
