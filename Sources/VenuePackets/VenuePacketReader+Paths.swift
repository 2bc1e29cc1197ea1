import IndoorRouting
import VenueModel

extension VenuePacketReader {
    /// A warning for each room and point of interest that no path reaches; of a venue read without an error.
    static func unreachedPlaces(of venue: Venue) -> [VenueProblem] {
        guard let coverage = PathCoverage(venue: venue) else { return [] }
        let rooms = venue.rooms.enumerated().compactMap { index, room in
            coverage.gap(of: room).map { problem("$.rooms[\(index)]", room.name, $0) }
        }
        let points = venue.pointsOfInterest.enumerated().compactMap { index, point in
            coverage.gap(of: point).map { problem("$.pois[\(index)]", point.name, $0) }
        }
        return rooms + points
    }

    private static func problem(_ path: String, _ name: String, _ gap: PathCoverage.Gap) -> VenueProblem {
        let reason =
            switch gap {
            case .noWay(let limit): "none of its map is within \(Int(limit)) m; add one that leads there"
            case .behindWall: "a wall lies between; lead one through the door, or open the wall there"
            case .apart: "those next to it are not joined to the others; add an edge that joins them"
            }
        return VenueProblem(severity: .warning, path: path, message: "no path reaches \(name): \(reason)")
    }
}
