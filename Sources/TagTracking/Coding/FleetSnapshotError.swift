import VenueModel
import IndoorVocabulary

/// The reason why a snapshot can't be restored.
package enum FleetSnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes don't begin like a snapshot of this kind.
    case notASnapshot
    /// A newer version of the program wrote the snapshot.
    case unsupportedVersion(UInt8)
    /// The checksum doesn't match the bytes.
    case wrongChecksum
    /// A value is missing or invalid.
    case invalid(offset: Int)
    /// The snapshot belongs to another venue.
    case otherVenue(VenueID, expected: VenueID)

    package var description: String {
        switch self {
        case .notASnapshot: "the bytes aren't a snapshot of a fleet. Delete the file to begin without a snapshot."
        case .unsupportedVersion(let version):
            "the snapshot has version \(version), which this program doesn't support. Use a newer program, or delete the "
                + "snapshot."
        case .wrongChecksum:
            "the checksum of the snapshot is wrong: it was damaged or not written to its end. Delete the snapshot to "
                + "begin without it."
        case .invalid(let offset):
            "the snapshot has an invalid value at byte \(offset). Delete the snapshot to begin without it."
        case .otherVenue(let found, let expected):
            "the snapshot belongs to venue \(found); expected venue \(expected). Use the snapshot of this venue."
        }
    }
}
