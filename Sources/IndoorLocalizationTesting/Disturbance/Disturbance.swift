import IndoorLocalization

/// A fault of beacons or an attack on the radio, which is added to recorded readings.
///
/// The text form is that of `indoorloc evaluate --disturb`, such as `clone=1,-50dBm` or `moved=0.2,10m`.
package enum Disturbance: Hashable, Sendable {
    /// A transmitter near the device sends the identities of distant beacons.
    ///
    /// - `count`: the number of identities.
    /// - `rssi`: the mean RSSI in dBm.
    /// - `rate`: the receptions per second of each identity.
    /// - `isOtherFloor`: whether the beacons are those of other floors than the device's.
    case clone(count: Int, rssi: Double, rate: Double, isOtherFloor: Bool)
    /// A share of the beacons is `distance` metres away from the place in the packet.
    case moved(share: Double, distance: Double)
    /// A share of the beacons was exchanged in pairs after the survey.
    case exchanged(share: Double)
    /// A share of the beacons sends nothing.
    case dead(share: Double)
    /// The power of a share of the beacons differs by `difference` dB from that of the survey.
    case power(difference: Double, share: Double)
    /// The readings of the radio are replaced by the readings of the same recording in reverse order.
    case replay
    /// Foreign beacons are received `rate` times a second.
    case flood(rate: Double)
}

/// An error in the text of a disturbance.
package struct DisturbanceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The problem, and the accepted form.
    package var description: String
}

extension Disturbance {
    /// The accepted forms of the text.
    package static let forms = [
        "clone=COUNT,LEVELdBm[,RATE/s][,otherFloor]", "moved=SHARE,DISTANCEm", "exchanged=SHARE", "dead=SHARE",
        "power=DIFFERENCE[,SHARE]", "replay", "flood=RATE/s",
    ]
    /// The receptions per second of a cloned identity, unless the text gives a rate.
    private static let cloneRate = 10.0
    /// The share of the beacons with another power, unless the text gives a share.
    private static let powerShare = 0.2

    /// Reads the text form.
    ///
    /// - Throws: `DisturbanceError` if the text has another form, or a number is out of range.
    package init(_ text: String) throws(DisturbanceError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var fields = DisturbanceFields(text, parts.count > 1 ? String(parts[1]) : nil)
        switch parts[0] {
        case "clone":
            let count = try fields.number(in: 1...1000)
            guard count == count.rounded() else { throw fields.error("the count must be a whole number") }
            let rssi = try fields.number(unit: "dBm", in: -127 ... -1)
            let rate = try fields.optionalNumber(unit: "/s", in: 0.01...1000) ?? Self.cloneRate
            self = .clone(count: Int(count), rssi: rssi, rate: rate, isOtherFloor: fields.take(word: "otherFloor"))
        case "moved":
            self = .moved(share: try fields.share(), distance: try fields.number(unit: "m", in: 0...1000))
        case "exchanged": self = .exchanged(share: try fields.share())
        case "dead": self = .dead(share: try fields.share())
        case "power":
            let difference = try fields.number(unit: "dB", in: -60...60)
            self = .power(difference: difference, share: try fields.optionalShare() ?? Self.powerShare)
        case "replay": self = .replay
        case "flood": self = .flood(rate: try fields.number(unit: "/s", in: 0.01...100_000))
        default: throw fields.error("unknown disturbance '\(parts[0])'")
        }
        try fields.end()
    }
}

/// The comma-separated values of a disturbance's text.
private struct DisturbanceFields {
    private let text: String
    private var rest: [Substring]

    init(_ text: String, _ values: String?) {
        self.text = text
        rest = values?.split(separator: ",", omittingEmptySubsequences: false) ?? []
    }

    func error(_ message: String) -> DisturbanceError {
        DisturbanceError(description: "\(message) in '\(text)'; use \(Disturbance.forms.joined(separator: " or "))")
    }

    mutating func number(unit: String = "", in range: ClosedRange<Double>) throws(DisturbanceError) -> Double {
        guard let number = try optionalNumber(unit: unit, in: range) else { throw error("a number is missing") }
        return number
    }

    /// Takes the next value if it is a number with or without its unit.
    mutating func optionalNumber(
        unit: String = "", in range: ClosedRange<Double>
    ) throws(DisturbanceError) -> Double? {
        guard let value = rest.first else { return nil }
        let digits = !unit.isEmpty && value.hasSuffix(unit) ? value.dropLast(unit.count) : value
        guard let number = Double(digits) else { return nil }
        guard range.contains(number) else {
            throw error("\(value) is not within \(range.lowerBound) and \(range.upperBound)")
        }
        rest.removeFirst()
        return number
    }

    mutating func share() throws(DisturbanceError) -> Double { try number(in: 0...1) }
    mutating func optionalShare() throws(DisturbanceError) -> Double? { try optionalNumber(in: 0...1) }

    mutating func take(word: String) -> Bool {
        guard rest.first == word[...] else { return false }
        rest.removeFirst()
        return true
    }

    func end() throws(DisturbanceError) {
        if let value = rest.first { throw error("unexpected '\(value)'") }
    }
}
