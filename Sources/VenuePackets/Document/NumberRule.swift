/// The numbers that a field accepts.
struct NumberRule: Sendable {
    /// The smallest and the largest number.
    let range: ClosedRange<Double>
    /// Whether the smallest number is excluded.
    var excludesLowerBound = false
    /// The expected value with its unit, as a message names it.
    let wanted: String

    func accepts(_ value: Double) -> Bool {
        range.contains(value) && !(excludesLowerBound && value == range.lowerBound)
    }

    /// Buildings are smaller than 1,000 km, and coordinates of that size are still exact to a millimetre.
    private static let longest = 1e6

    static let position = NumberRule(range: -longest...longest, wanted: "a number of metres within ±1,000,000")
    static let length = NumberRule(
        range: 0...longest, excludesLowerBound: true, wanted: "a number of metres above 0 and up to 1,000,000")
    static let height = NumberRule(range: -12_000...12_000, wanted: "a number of metres within ±12,000")
    static let latitude = NumberRule(range: -90...90, wanted: "degrees north in [-90, 90]")
    static let longitude = NumberRule(range: -180...180, wanted: "degrees east in [-180, 180]")
    static let bearing = NumberRule(range: -360...360, wanted: "degrees clockwise from true north in [0, 360)")
    /// The range of one signed byte of an advertisement; Bluetooth transmitters stay below 20 dBm.
    static let measuredPower = NumberRule(range: -127...20, wanted: "dBm at 1 m in [-127, 20]")
    static let pathLossExponent = NumberRule(
        range: 0...20, excludesLowerBound: true, wanted: "a number above 0 and up to 20, 2 in free space")
    static let weight = NumberRule(range: 0...1e9, wanted: "metres of walking, 0 or more")
    static let margin = NumberRule(range: 0...longest, wanted: "a number of metres, 0 or more")
    static let timeout = NumberRule(range: 0...1e9, wanted: "a number of seconds, 0 or more")
}

/// The whole numbers that a field accepts.
struct IntegerRule: Sendable {
    /// The smallest and the largest number.
    let range: ClosedRange<Int>
    /// The expected value, as a message names it.
    let wanted: String

    /// The largest whole number that every JSON reader keeps exact: 2^53 - 1.
    private static let exact = 9_007_199_254_740_991

    static let identifier = IntegerRule(range: -exact...exact, wanted: "a whole number")
    static let edition = IntegerRule(range: 0...exact, wanted: "a whole number, 0 or more")
    static let level = IntegerRule(range: -1_000...1_000, wanted: "a whole number, 0 for the ground floor")
    static let pixels = IntegerRule(range: 1...10_000_000, wanted: "a whole number of pixels, 1 or more")
    static let beaconNumber = IntegerRule(range: 0...65_535, wanted: "a whole number in [0, 65535]")
}
