import Foundation
import IndoorLocalization
import VenuePackets

extension CommandOption {
    static let learned = CommandOption(
        name: "learned", argument: "PACKET",
        help: "use this edition of V, which 'survey --self' writes, as long as V has no newer one")
}

/// An edition of a venue that was learned from the recordings of its sessions: the option `--learned`.
///
/// The packet that its owner maintains has precedence. A missing or damaged edition never keeps the service from starting.
struct LearnedEdition: Sendable {
    private let path: String

    /// Returns nil without the option.
    init?(_ arguments: ParsedArguments) {
        guard let path = arguments.value("learned") else { return nil }
        self.init(path: ParsedArguments.path(path))
    }

    init(path: String) { self.path = path }

    /// Returns the learned edition of a packet's venue; nil if there is none that is newer, which is reported.
    func edition(of packet: VenuePacket) -> VenuePacket? {
        // Before the first learning.
        guard access(path, F_OK) == 0 else { return nil }
        let learned: VenuePacket
        do { learned = try VenuePacketReader().read(path) } catch {
            StandardError.line("--learned: \(error); the packet of --venue is used", .warning)
            return nil
        }
        let (venue, base) = (learned.venue, packet.venue)
        guard venue.id == base.id else {
            StandardError.line(
                "--learned: \(path) is an edition of '\(venue.name)', not of '\(base.name)'; the packet of --venue is used",
                .warning)
            return nil
        }
        // Surveys and new editions of the owner come after the learning.
        guard base.radioMap == nil, venue.version > base.version else {
            StandardError.line(
                "--learned: edition \(venue.version) of '\(base.name)' is not used, because the packet "
                    + (base.radioMap != nil ? "has a radio map" : "has edition \(base.version)"), .notice)
            return nil
        }
        StandardError.line("--learned: edition \(venue.version) of '\(base.name)' is used", .info)
        return learned
    }
}
