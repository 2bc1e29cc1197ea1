import IndoorLocalization
import LiveMap
import VenuePackets

/// The plan images of venues for a live map, from the files of their packets.
actor PacketPlans: LiveMapPlans {
    private struct Key: Hashable {
        var venue: VenueID
        var version: Int
        var map: MapID
    }

    private let files: PlanFiles
    /// The opened tiles; nil for a map without tiles.
    private var tiles: [Key: PlanTiles?] = [:]

    init(_ files: PlanFiles) { self.files = files }

    func image(of map: VenueMap, in venue: Venue) -> LiveMapImage? {
        do throws(VenuePacketError) {
            return try files.image(of: map).map { LiveMapImage(bytes: $0.bytes, mediaType: $0.mediaType) }
        } catch {
            StandardError.line("\(error)")
            return nil
        }
    }

    func tiles(of map: VenueMap, in venue: Venue) -> LiveMapVenue.Tiles? {
        open(map, venue).map {
            LiveMapVenue.Tiles(
                width: $0.width, height: $0.height, tileSize: $0.tileSize, overlap: 0, format: $0.format)
        }
    }

    func tile(of map: VenueMap, in venue: Venue, level: Int, column: Int, row: Int) -> LiveMapImage? {
        open(map, venue)?.tile(level: level, column: column, row: row).map {
            LiveMapImage(bytes: $0.bytes, mediaType: $0.mediaType)
        }
    }

    /// Opens the tiles of a map once; reports the reason if they can't be used.
    private func open(_ map: VenueMap, _ venue: Venue) -> PlanTiles? {
        let key = Key(venue: venue.id, version: venue.version, map: map.id)
        if let opened = tiles[key] { return opened }
        var opened: PlanTiles?
        do throws(VenuePacketError) { opened = try files.tiles(of: map) } catch { StandardError.line("\(error)") }
        tiles[key] = .some(opened)
        return opened
    }
}

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
