import BeaconScanning
import IndoorVocabulary

/// An error in a Bluetooth capture, with its position and remedy.
public struct BTSnoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    package enum Problem: Error, Hashable, Sendable {
        /// The file could not be opened, read or decompressed; the text is the system's reason.
        case unreadable(String)
        /// The file could not be created or written; the text is the system's reason.
        case unwritable(String)
        /// The file does not begin with the identification of a capture.
        case notACapture
        /// The file has a format version other than 1.
        case unsupportedVersion(UInt32)
        /// This package doesn't support the packet layout.
        case unsupportedDatalink(UInt32)
        /// The file ends within the header or within a record; lengths in bytes.
        case cutOff(expected: Int, found: Int)
        /// A record states a length in bytes that no packet can have.
        case recordTooLong(Int, limit: Int)
        /// A record states that it contains more bytes than its packet had; lengths in bytes.
        case moreThanOriginal(included: Int, original: Int)
        /// An advertising event is malformed.
        case malformedEvent(AdvertisingReportError)
        /// The record is earlier than the previous record; both times in seconds since the first record.
        case timeWentBackwards(from: Double, to: Double)
        /// The record is more than 292 years from the first one, or its time is outside what the format can store.
        case timeOutOfRange
        /// An RSSI in dBm that is not a measurement.
        case notAMeasurement(rssi: Double)
        /// Advertising data with more bytes than Bluetooth allows.
        case tooMuchData(Int, limit: Int)
        /// A sighting that advertising data cannot represent.
        case unencodable(BeaconFrame.EncodingError)
    }

    /// The path of the file.
    public var file: String
    /// The offset of the record or header in the decompressed file; nil if the error concerns the whole file.
    public var offset: Int64?
    /// The kind of error.
    package var problem: Problem

    /// Creates an error.
    package init(file: String, offset: Int64? = nil, problem: Problem) {
        self.file = file
        self.offset = offset
        self.problem = problem
    }

    /// The file, the byte offset, the problem and its remedy, in one line.
    public var description: String { "\(finding). \(problem.remedy)." }

    /// The description without the remedy, for callers that have already applied it.
    package var finding: String {
        let place = offset.map { "\(file): record at byte \($0)" } ?? file
        return "\(place) \(problem.text)"
    }
}

extension BTSnoopError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch problem {
        case .unreadable, .unwritable: .storage
        case .unsupportedVersion: .versionMismatch
        case .unsupportedDatalink: .notSupported
        case .notACapture, .cutOff, .recordTooLong, .moreThanOriginal, .malformedEvent, .timeWentBackwards,
            .timeOutOfRange, .notAMeasurement, .tooMuchData, .unencodable:
            .badResponse
        }
    }
}

extension BTSnoopError.Problem {
    /// The problem, without a full stop.
    var text: String {
        switch self {
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .unwritable(let reason): "cannot be written: \(reason)"
        case .notACapture: "is not a btsnoop capture"
        case .unsupportedVersion(let version): "has version \(version)"
        case .unsupportedDatalink(let number): "has packets of datalink type \(number)"
        case .cutOff(let expected, let found): "needs \(expected) bytes but has \(found)"
        case .recordTooLong(let length, let limit): "has a length of \(length) bytes; the limit is \(limit)"
        case .moreThanOriginal(let included, let original):
            "contains \(included) bytes of a packet of \(original) bytes"
        case .malformedEvent(let error): "contains a malformed event: \(error.description.dropLast())"
        case .timeWentBackwards(let from, let to): "goes back from \(from) s to \(to) s"
        case .timeOutOfRange: "has a time that is out of range"
        case .notAMeasurement(let rssi): "would contain an RSSI of \(rssi) dBm, which is not a measurement"
        case .tooMuchData(let count, let limit):
            "would contain \(count) bytes of advertising data; the limit is \(limit)"
        case .unencodable(let error): "would contain a beacon that cannot be encoded: \(error.description.dropLast())"
        }
    }

    /// The remedy, without a full stop.
    var remedy: String {
        switch self {
        case .unreadable: "Check the path, its permissions, and that the file is complete"
        case .unwritable: "Check the folder, its permissions, and the free space"
        case .notACapture: "Use a file that `btmon -w` wrote or that Wireshark saved as btsnoop"
        case .unsupportedVersion: "This package reads version 1: capture again with `btmon -w`"
        case .unsupportedDatalink:
            "This package reads "
                + BTSnoopDatalink.allCases.map { "\($0.rawValue) (\($0.name))" }.joined(separator: ", ")
                + ": capture again with `btmon -w`"
        case .cutOff: "Copy the file again, or read leniently to get the records before this one"
        case .recordTooLong: "The file is damaged from here on: read leniently to get the records before this one"
        case .moreThanOriginal: "Read leniently to skip such records"
        case .malformedEvent: "Capture whole packets, or read leniently to skip such records"
        case .timeWentBackwards: "Sort the capture by time, or read leniently to skip such records"
        case .timeOutOfRange: "Correct the time of the record, or read leniently to skip such records"
        case .notAMeasurement: "Remove the reading: an RSSI is -127 to -1 dBm"
        case .tooMuchData: "Remove the reading: no radio can receive that much data"
        case .unencodable: "Correct the measured power, or remove the reading"
        }
    }
}
