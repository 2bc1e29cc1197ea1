import IndoorVocabulary

/// What a device has learned of itself while it was carried about: how its radio hears, and how long a step is.
///
///     let stored = try Calibration(document)              // of an earlier session
///     await localizer.setCalibration(stored)
///     …
///     let document = await localizer.calibration.document  // to be kept
///
/// A localizer learns in the background, whenever it locates by particles. It begins each session with what it was given or
/// has learned before, and takes it for less sure than it was: another pocket, other shoes.
public struct Calibration: Hashable, Sendable {
    /// How far a calibration can be relied on.
    public enum Quality: Int, Hashable, Sendable, CaseIterable, Comparable {
        /// The radio's offset is not known to within 1.5 dB.
        case poor
        /// The radio's offset is known to within 1.5 dB.
        case ok
        /// The radio's offset is known to within 1 dB, the length of a step to within 8 %.
        case excellent

        public static func < (left: Quality, right: Quality) -> Bool { left.rawValue < right.rawValue }
    }

    /// Decibels by which the device hears stronger than the one that the venue's map was made with, in [-50, 50].
    public var rssiOffset: Double
    /// Standard deviation of `rssiOffset` in dB, in [0, 50].
    public var rssiDeviation: Double
    /// Length of a step against what the step detector says, in [0.4, 2.5].
    public var stepScale: Double
    /// Standard deviation of `stepScale`, in [0, 1].
    public var stepDeviation: Double

    /// Creates a calibration that knows what everybody knows.
    public init() {
        let (signal, motion) = (SignalModel(), MotionModel())
        rssiOffset = 0
        rssiDeviation = signal.receiverOffsetDeviation
        stepScale = 1
        stepDeviation = motion.stepScale
    }

    /// How far it can be relied on.
    public var quality: Quality {
        if rssiDeviation > 1.5 { return .poor }
        return rssiDeviation <= 1 && stepDeviation <= 0.08 ? .excellent : .ok
    }

    /// What of it holds in the next session.
    ///
    /// The offset changes by 1 dB with the pocket, a step by 3 % with the shoes.
    var later: Calibration {
        var later = self
        later.rssiDeviation = (rssiDeviation * rssiDeviation + 1).squareRoot()
        later.stepDeviation = (stepDeviation * stepDeviation + 0.03 * 0.03).squareRoot()
        return later
    }
}

/// Why a document is no calibration.
public enum CalibrationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The document is not an object of numbers by name.
    case notAnObject
    /// A number is missing, or not in its range.
    case invalidNumber(String, ClosedRange<Double>)

    public var description: String {
        switch self {
        case .notAnObject: "a calibration is an object of numbers; give what Calibration.document was"
        case .invalidNumber(let name, let range):
            "\(name) must be a number in [\(range.lowerBound), \(range.upperBound)]; correct it, or calibrate anew"
        }
    }
}

// As a document, to be kept between sessions.
extension Calibration {
    private static let fields:
        [(name: String, path: WritableKeyPath<Calibration, Double> & Sendable, range: ClosedRange<Double>)] = [
            ("rssiOffset", \.rssiOffset, -50...50), ("rssiDeviation", \.rssiDeviation, 0...50),
            ("stepScale", \.stepScale, 0.4...2.5), ("stepDeviation", \.stepDeviation, 0...1),
        ]

    /// The calibration as an object of its numbers by name.
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
