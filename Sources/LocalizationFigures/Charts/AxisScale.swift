/// The scale of an axis: a range whose ends are ticks, and the ticks, at steps of 1, 2 or 5 times a power of ten.
struct AxisScale: Hashable {
    /// The first and the last value.
    let range: ClosedRange<Double>
    /// The values with a tick, in increasing order.
    let ticks: [Double]
    /// The number of decimals that distinguishes the ticks.
    let decimals: Int
    /// The names of the ticks; nil for their numbers.
    private var names: [String]?

    /// Creates the scale of data.
    ///
    /// - Parameters:
    ///   - data: the range of the data; its ends are clamped to ±10¹².
    ///   - count: the desired number of steps, at least 1.
    ///   - isTight: whether the scale ends with the data instead of at a tick.
    init(_ data: ClosedRange<Double>, count: Int, isTight: Bool = false) {
        var (low, high) = (Self.clamped(data.lowerBound), Self.clamped(data.upperBound))
        if high - low < 1e-9 * max(1, abs(low), abs(high)) {
            let margin = max(0.5, abs(low) * 0.1)
            (low, high) = (low - margin, high + margin)
        }
        let step = Self.step(atLeast: (high - low) / Double(max(1, count)))
        decimals = step.decimals
        // The value is computed from a multiple of the step, because repeated addition would accumulate rounding
        // errors.
        func value(_ number: Double) -> Double {
            step.power < 0
                ? number * step.digit / Self.power(-step.power) : number * step.digit * Self.power(step.power)
        }
        let unit = value(1)
        let first = isTight ? (low / unit - 1e-9).rounded(.up) : (low / unit + 1e-9).rounded(.down)
        let last = isTight ? (high / unit + 1e-9).rounded(.down) : (high / unit - 1e-9).rounded(.up)
        ticks = last < first ? [] : (0...Int(last - first)).map { value(first + Double($0)) }
        range = isTight ? low...high : value(first)...max(value(last), value(first + 1))
    }

    /// Creates the scale of categories, whose ticks are the whole numbers from 0.
    init(categories: [String]) {
        let count = Double(max(1, categories.count))
        range = -0.5...count - 0.5
        ticks = categories.indices.map(Double.init)
        decimals = 0
        names = categories
    }

    /// A step of `digit` times ten to the `power`.
    private struct Step {
        var digit: Double
        var power: Int
        var decimals: Int { max(0, -power) }
    }

    private static func step(atLeast least: Double) -> Step {
        var power = 0
        while Self.power(power) <= least / 10 { power += 1 }
        while least < (power > 0 ? Self.power(power) : 1 / Self.power(-power)), power > -9 { power -= 1 }
        let unit = power < 0 ? 1 / Self.power(-power) : Self.power(power)
        for digit in [1.0, 2, 5] where digit * unit >= least * (1 - 1e-9) { return Step(digit: digit, power: power) }
        return Step(digit: 1, power: power + 1)
    }

    /// Returns the nearest number that can be drawn with the precision of a Double; 0 for NaN.
    private static func clamped(_ value: Double) -> Double { min(max(value.isNaN ? 0 : value, -1e12), 1e12) }

    /// Ten to a power from 0.
    private static func power(_ exponent: Int) -> Double {
        (0..<max(0, exponent)).reduce(1.0) { power, _ in power * 10 }
    }

    /// Returns the share of the axis before a value; below 0 or above 1 for a value outside the range.
    func share(_ value: Double) -> Double {
        (value - range.lowerBound) / (range.upperBound - range.lowerBound)
    }

    /// The ticks' labels.
    var labels: [String] { names ?? ticks.map { SVGText.label($0, decimals: decimals) } }
}
