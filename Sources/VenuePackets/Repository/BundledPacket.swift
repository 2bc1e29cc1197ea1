import IndoorVocabulary
import VenueModel

/// A packet that comes with the program, for a first start without a network.
public struct BundledPacket: Hashable, Sendable {
    /// The path of the packet: a folder or its zip.
    public var path: String
    /// Its venue.
    public var venueID: VenueID
    /// Its version; with one that is not above the stored one it is not even read.
    public var version: Int

    /// Names a packet, unread.
    public init(path: String, venueID: VenueID, version: Int) {
        self.path = path
        self.venueID = venueID
        self.version = version
    }

    /// Reads venue and version from the packet.
    ///
    /// - Throws: `VenuePacketError` if it is no usable packet.
    public init(path: String) throws(VenuePacketError) {
        let venue = try VenuePacketReader().read(path).venue
        self.init(path: path, venueID: venue.id, version: venue.version)
    }
}
