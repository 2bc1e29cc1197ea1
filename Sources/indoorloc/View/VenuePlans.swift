import IndoorLocalization
import LiveMap
import VenuePackets

/// The plan images of several venues.
struct VenuePlans: LiveMapPlans {
    /// The plans of each packet.
    private let plans: [VenueID: PacketPlans]
    /// The plans of other venues, whose maps have absolute paths.
    private let others = PacketPlans(PlanFiles())

    init(_ packets: [VenuePacket]) {
        plans = Dictionary(packets.map { ($0.venue.id, PacketPlans(PlanFiles($0))) }) { first, _ in first }
    }

    func image(of map: VenueMap, in venue: Venue) async -> LiveMapImage? {
        await plans[venue.id, default: others].image(of: map, in: venue)
    }

    func tiles(of map: VenueMap, in venue: Venue) async -> LiveMapVenue.Tiles? {
        await plans[venue.id, default: others].tiles(of: map, in: venue)
    }

    func tile(of map: VenueMap, in venue: Venue, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        await plans[venue.id, default: others].tile(of: map, in: venue, level: level, column: column, row: row)
    }
}
