/// The reason why advertising data are malformed. Well-formed data without a beacon are not an error.
public enum AdvertisementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The length of an AD structure exceeds the data; `offset` is the position of the structure's length byte.
    case truncatedStructure(offset: Int, expected: Int, found: Int)
    /// The payload of a beacon frame doesn't have the length in bytes that its format requires.
    case wrongLength(BeaconFrame.Format, expected: Int, found: Int)

    public var description: String {
        switch self {
        case .truncatedStructure(let offset, let expected, let found):
            "AD structure at byte \(offset) needs \(expected) bytes, \(found) are there: the data were cut off."
        case .wrongLength(let format, let expected, let found):
            "\(format.rawValue) frame has \(found) bytes, not \(expected): check what the beacon sends."
        }
    }
}
