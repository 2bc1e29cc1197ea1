import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The parts of a map and the rooms of a venue that the walks of a survey have not reached.
package struct SurveyCoverage: Hashable, Sendable {
    /// The distance in metres from the way of a walk within which walkable ground is surveyed.
    package static let distance = 3.0
    /// The distance between two points of a way, and the edge of the squares of which one point each counts, in metres.
    private static let spacing = 1.0

    /// The parts of the map, the largest first.
    package let gaps: [SurveyGap]
    /// The rooms of the venue without a point of a walk, in the order of the venue.
    package let unvisitedRooms: [Room]

    /// Compares walks with a venue.
    ///
    /// - Parameters:
    ///   - walks: the marks of each walk, in their order. Those outside of the plans don't count: a recording can have any
    ///     number as a coordinate.
    ///   - mapID: the map of the gaps.
    package init(of walks: [[SurveyRecording.Waypoint]], in venue: Venue, on mapID: MapID) {
        var places: [MapID: [MapPoint]] = [:]
        var squares: [MapID: Set<SIMD2<Double>>] = [:]
        func add(_ map: MapID, _ point: MapPoint) {
            let square = SIMD2(Self.square(point.x), Self.square(point.y))
            if squares[map, default: []].insert(square).inserted { places[map, default: []].append(point) }
        }
        for walk in walks {
            for (index, mark) in walk.enumerated() {
                guard let map = venue.map(mark.mapID), map.contains(mark.point) else { continue }
                add(mark.mapID, mark.point)
                guard index + 1 < walk.count, walk[index + 1].mapID == mark.mapID, map.contains(walk[index + 1].point),
                    !mark.isInterrupted(before: walk[index + 1])
                else { continue }
                let leg = walk[index + 1].point - mark.point
                let count = (mark.point.distance(to: walk[index + 1].point) / Self.spacing).rounded(.up)
                for step in stride(from: 1, to: count, by: 1) { add(mark.mapID, mark.point + leg * (step / count)) }
            }
        }
        unvisitedRooms = venue.rooms.filter { room in
            guard let area = room.area else { return false }
            return places[room.mapID]?.contains { area.contains($0) } != true
        }
        gaps = venue.surveyGaps(around: places, distance: Self.distance, on: mapID)
    }

    private static func square(_ value: Double) -> Double { (value / spacing).rounded(.down) }
}
