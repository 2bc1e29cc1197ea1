/// Why advertising data are malformed. Data that are sound but hold no beacon are no error.
public enum AdvertisementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An AD structure says that it is longer than the data; offset of its length byte.
    case truncatedStructure(offset: Int, expected: Int, found: Int)
    /// A beacon frame's payload has another length in bytes than its format demands.
    case wrongLength(BeaconFrame.Format, expected: Int, found: Int)
    /// The measured power in dBm is none that a beacon can have: 0 and positive stand for "never calibrated".
    case implausiblePower(BeaconFrame.Format, Int)

    public var description: String {
        switch self {
        case .truncatedStructure(let offset, let expected, let found):
            "AD structure at byte \(offset) needs \(expected) bytes, \(found) are there: the data were cut off."
        case .wrongLength(let format, let expected, let found):
            "\(format.rawValue) frame has \(found) bytes, not \(expected): check what the beacon sends."
        case .implausiblePower(let format, let power):
            "\(format.rawValue) frame has a measured power of \(power) dBm: calibrate the beacon."
        }
    }
}
