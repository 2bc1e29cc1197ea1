import IndoorVocabulary

/// The learned properties of a device: its receiver offset and the length of the user's step.
///
///     let stored = try Calibration(document)              // from an earlier session
///     await localizer.setCalibration(stored)
///     …
///     let document = await localizer.calibration.document  // to be stored
///
/// A localizer learns in the background while it uses the particle filter. It begins each session with the calibration
/// that it was given or learned before, and increases the uncertainty, because the user may carry the device elsewhere
/// or wear other shoes.
public struct Calibration: Hashable, Sendable {
    /// The quality of a calibration.
    public enum Quality: Int, Hashable, Sendable, CaseIterable, Comparable {
        /// The standard deviation of the receiver offset is more than 1.5 dB.
        case poor
        /// The standard deviation of the receiver offset is at most 1.5 dB.
        case ok
        /// The standard deviations are at most 1 dB for the receiver offset and 8 % for the step length.
        case excellent

        public static func < (left: Quality, right: Quality) -> Bool { left.rawValue < right.rawValue }
    }

    /// Receiver offset: the difference in dB between the RSSI of this device and that of the radio map's receiver, in
    /// [-50, 50].
    public var rssiOffset: Double
    /// Standard deviation of `rssiOffset` in dB, in [0, 50].
    public var rssiDeviation: Double
    /// Ratio of the true step length to the step detector's estimate, in [0.4, 2.5].
    public var stepScale: Double
    /// Standard deviation of `stepScale`, in [0, 1].
    public var stepDeviation: Double

    /// Creates a calibration with the default priors.
    public init() {
        let (signal, motion) = (SignalModel(), MotionModel())
        rssiOffset = 0
        rssiDeviation = signal.receiverOffsetDeviation
        stepScale = 1
        stepDeviation = motion.stepScale
    }

    /// The quality of the calibration.
    public var quality: Quality {
        if rssiDeviation > 1.5 { return .poor }
        return rssiDeviation <= 1 && stepDeviation <= 0.08 ? .excellent : .ok
    }

    /// The calibration with its uncertainty increased for the next session.
    ///
    /// Another pocket changes the offset by 1 dB, and other shoes change the step length by 3 %.
    var later: Calibration {
        var later = self
        later.rssiDeviation = (rssiDeviation * rssiDeviation + 1).squareRoot()
        later.stepDeviation = (stepDeviation * stepDeviation + 0.03 * 0.03).squareRoot()
        return later
    }
}

/// The reason why a calibration document is invalid.
public enum CalibrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The document is not an object of numbers by name.
    case notAnObject
    /// A number is missing or out of range.
    case invalidNumber(String, ClosedRange<Double>)

    public var description: String {
        switch self {
        case .notAnObject: "the calibration must be an object of numbers; use the value of Calibration.document"
        case .invalidNumber(let name, let range):
            "\(name) must be a number in [\(range.lowerBound), \(range.upperBound)]; correct it, or discard the calibration"
        }
    }
}

// The JSON document, for storage between sessions.
extension Calibration {
    private static let fields:
        [(name: String, path: WritableKeyPath<Calibration, Double> & Sendable, range: ClosedRange<Double>)] = [
            ("rssiOffset", \.rssiOffset, -50...50), ("rssiDeviation", \.rssiDeviation, 0...50),
            ("stepScale", \.stepScale, 0.4...2.5), ("stepDeviation", \.stepDeviation, 0...1),
        ]

    /// The calibration as a JSON object of numbers by name.
    public var document: JSONValue {
        .object(Dictionary(uniqueKeysWithValues: Self.fields.map { ($0.name, .number(self[keyPath: $0.path])) }))
    }

    /// Reads a calibration from its document; other members are ignored.
    ///
    /// - Throws: `CalibrationError` if a number is missing or out of its range.
    public init(_ document: JSONValue) throws(CalibrationError) {
        guard case .object(let members) = document else { throw .notAnObject }
        self.init()
        for field in Self.fields {
            guard case .number(let number)? = members[field.name], field.range.contains(number) else {
                throw .invalidNumber(field.name, field.range)
            }
            self[keyPath: field.path] = number
        }
    }
}
