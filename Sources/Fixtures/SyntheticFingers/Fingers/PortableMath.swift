// SPDX-License-Identifier: Apache-2.0

/// Elementary functions that use only IEEE 754 basic operations.
///
/// A C library may round these functions differently on another processor, and the clipped iteration that grows a
/// finger amplifies a difference in the last bit. With these functions, a seed results in the same finger on every
/// machine, in both debug and release builds. Each is accurate to about 1e-13 for the moderate arguments used here (|x|
/// < 1e6).
enum PortableMath {
    static let pi = 3.141_592_653_589_793

    static func sin(_ x: Double) -> Double {
        sinAndCos(x).sin
    }

    static func cos(_ x: Double) -> Double {
        sinAndCos(x).cos
    }

    /// Returns the sine and cosine, using both Taylor series after reducing `x` to within an eighth of a turn of a
    /// multiple of π/2.
    static func sinAndCos(_ x: Double) -> (sin: Double, cos: Double) {
        let quarters = (x * (2 / pi)).rounded()
        let r = x - quarters * (pi / 2)
        let q = r * r
        let s =
            r
            * (1 - q / 6
                * (1 - q / 20 * (1 - q / 42 * (1 - q / 72 * (1 - q / 110 * (1 - q / 156 * (1 - q / 210)))))))
        let c =
            1 - q / 2
            * (1 - q / 12 * (1 - q / 30 * (1 - q / 56 * (1 - q / 90 * (1 - q / 132 * (1 - q / 182))))))
        switch Int(quarters) & 3 {
        case 0: return (s, c)
        case 1: return (c, -s)
        case 2: return (-s, -c)
        default: return (-c, s)
        }
    }

    /// Returns e to the power of `x`, or 0 if `x` is less than -700.
    static func exp(_ x: Double) -> Double {
        guard x > -700 else { return 0 }
        let twos = (x * 1.442_695_040_888_963_4).rounded()
        let r = x - twos * 0.693_147_180_559_945_3
        var term = 1.0
        var sum = 1.0
        for n in 1...14 {
            term *= r / Double(n)
            sum += term
        }
        return sum * Double(sign: .plus, exponent: Int(twos), significand: 1)
    }

    /// Returns the angle of the point (`x`, `y`), from -π to π, or 0 for the origin.
    static func atan2(_ y: Double, _ x: Double) -> Double {
        let ax = x.magnitude
        let ay = y.magnitude
        guard ax > 0 || ay > 0 else { return 0 }
        let first = ay <= ax ? atanOfUnit(ay / ax) : pi / 2 - atanOfUnit(ax / ay)
        let half = x < 0 ? pi - first : first
        return y < 0 ? -half : half
    }

    /// Returns the arctangent of a number from 0 to 1, using the series after halving the angle twice, to at most 0.2.
    private static func atanOfUnit(_ t: Double) -> Double {
        let u = t / (1 + (1 + t * t).squareRoot())
        let v = u / (1 + (1 + u * u).squareRoot())
        let q = v * v
        var sum = 0.0
        var n = 19.0
        while n >= 1 {
            sum = 1 / n - q * sum
            n -= 2
        }
        return 4 * v * sum
    }
}

/// A stream of random numbers that is determined by a seed (splitmix64).
///
/// The numbers are not secret and must not be used for secrets.
struct RandomSource {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Creates the stream for one press of a finger, which is unrelated to the streams for the finger and its other
    /// presses.
    init(seed: UInt64, press: Int) {
        var finger = RandomSource(seed: seed)
        var index = RandomSource(seed: UInt64(bitPattern: Int64(press)) ^ 0x7072_6573_7365_7321)
        state = finger.next() ^ index.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z &>> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z &>> 31)
    }

    /// Returns a number from 0 up to, but not including, 1, made of the top 53 bits.
    mutating func unit() -> Double {
        Double(Int64(truncatingIfNeeded: next() &>> 11)) * 0x1p-53
    }

    mutating func uniform(_ low: Double, _ high: Double) -> Double {
        low + (high - low) * unit()
    }

    /// Returns a number from -`bound` to `bound`.
    mutating func within(_ bound: Double) -> Double {
        uniform(-bound, bound)
    }

    /// Returns an integer in the range 0 ..< `count`.
    mutating func choice(of count: Int) -> Int {
        Int(unit() * Double(count))
    }

    /// Returns an approximately normally distributed number with mean 0 and standard deviation 1.
    ///
    /// It is based on the sum of four uniform numbers and never beyond ±2√3.
    mutating func gaussian() -> Double {
        (unit() + unit() + unit() + unit() - 2) * 1.732_050_807_568_877_2
    }
}
