import IndoorVocabulary
import VenueModel

/// The plan of one floor with layers over it.
public struct PlanView: Sendable {
    /// The title above the plan; empty for none.
    package var title: String
    /// The plan.
    package var map: VenueMap
    /// The rooms to draw.
    public var rooms: [Room]
    /// The geofences to draw.
    public var fences: [Fence]
    /// The points of the beacons.
    public var beacons: [MapPoint]
    /// The values under the walls; nil for none.
    package var heatMap: HeatMap?
    /// The layers over the walls, drawn in order.
    package var layers: [PlanLayer]
    /// Whether rooms are labelled with their names, where there is space.
    public var showsRoomNames: Bool
    /// The name of the beacons in the legend.
    public var beaconName: String
    /// Whether the drawing shows only the part of the plan around the layers, with a margin.
    public var isCropped: Bool

    /// Creates the plan of a map of a venue, with the beacons of that map and, without a heat map, its rooms and
    /// fences.
    ///
    /// - Parameter title: the title; nil for the map's name.
    public init(
        venue: Venue, map: VenueMap, title: String? = nil, heatMap: HeatMap? = nil, layers: [PlanLayer] = []
    ) {
        self.title = title ?? map.name
        self.map = map
        rooms = venue.rooms(on: map.id)
        fences = heatMap == nil ? venue.fences(on: map.id) : []
        beacons = venue.beacons(on: map.id).map(\.point)
        self.heatMap = heatMap
        self.layers = layers
        showsRoomNames = heatMap == nil
        beaconName = "beacons"
        isCropped = false
    }

    /// The entries of the legend.
    var legend: [LegendEntry] {
        var entries = layers.compactMap(\.legend)
        if beacons.contains(where: \.isFinite) {
            entries.append(LegendEntry(name: beaconName, symbol: .square, color: .blue))
        }
        if !fences.isEmpty { entries.append(LegendEntry(name: "fences", symbol: .dashedLine, color: .purple)) }
        return entries
    }

    /// The part of the plan to draw, in metres: the plan, and the beacons and layers outside it up to a tenth of it.
    var extent: (low: MapPoint, high: MapPoint) {
        let (width, height) = (max(map.width, 0.001), max(map.height, 0.001))
        var points = beacons
        for layer in layers {
            switch layer.form {
            case .path(let more), .points(let more), .squares(let more): points += more
            case .circles(let circles): points += circles.map(\.center)
            case .segments(let segments): points += segments.flatMap { [$0.start, $0.end] }
            case .label(let point, _): points.append(point)
            }
        }
        points = points.filter(\.isFinite)
        var (low, high) = (MapPoint(x: 0, y: 0), MapPoint(x: width, y: height))
        if isCropped, let first = points.first {
            (low, high) = (first, first)
            for point in points { (low, high) = (low.lower(point), high.upper(point)) }
            let margin = max(3, 0.05 * max(high.x - low.x, high.y - low.y))
            low = (low - MapPoint(x: margin, y: margin)).upper(MapPoint(x: -margin, y: -margin))
            high = (high + MapPoint(x: margin, y: margin)).lower(MapPoint(x: width + margin, y: height + margin))
            return (low, high)
        }
        let margin = 0.1 * max(width, height)
        for point in points {
            low = low.lower(point).upper(MapPoint(x: -margin, y: -margin))
            high = high.upper(point).lower(MapPoint(x: width + margin, y: height + margin))
        }
        return (low, high)
    }
}

extension MapPoint {
    fileprivate func lower(_ other: MapPoint) -> MapPoint { MapPoint(x: min(x, other.x), y: min(y, other.y)) }
    fileprivate func upper(_ other: MapPoint) -> MapPoint { MapPoint(x: max(x, other.x), y: max(y, other.y)) }
}
