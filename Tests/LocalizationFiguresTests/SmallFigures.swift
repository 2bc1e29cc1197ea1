import IndoorVocabulary
import LocalizationFigures
import VenueModel

/// Small inputs of figures.
enum SmallFigures {
    /// A chart with a series of each form.
    static var chart: Chart {
        let xs = (0...20).map(Double.init)
        return Chart(
            title: "Every form", x: ChartAxis("Time", unit: "s"),
            y: ChartAxis("Error", unit: "m", includesZero: true),
            series: [
                ChartSeries("band", .band(xs.map { .init(x: $0, lower: $0 / 10, upper: $0 / 5 + 1) }), color: .sky),
                ChartSeries("bars", .bars([.init(0...2, value: 1), .init(2...4, value: 3)]), color: .gray),
                ChartSeries("line", .line(xs.map { ChartPoint(x: $0, y: 8 - $0 / 4) }), color: .blue),
                ChartSeries("steps", .steps(xs.map { ChartPoint(x: $0, y: $0 / 3) }), color: .green),
                ChartSeries(
                    "reference", .line([ChartPoint(x: 0, y: 7), ChartPoint(x: 20, y: 7)]), color: .purple,
                    isDashed: true),
                ChartSeries("points", .points([ChartPoint(x: 10, y: 2), ChartPoint(x: 16, y: 6)]), color: .vermilion),
            ])
    }

    /// A floor of 20 m by 10 m with two rooms, a wall, a geofence and two beacons.
    static func venue(roomName: String = "Office") -> Venue {
        let map = VenueMap(
            id: MapID(rawValue: 1), name: "Ground floor", level: 0, width: 20, height: 10,
            walls: [[MapPoint(x: 0, y: 0), MapPoint(x: 20, y: 0)], [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 6)]])
        var venue = Venue(id: VenueID(rawValue: 1), name: "House", maps: [map])
        venue.rooms = [
            Room(
                id: 1, name: roomName, mapID: map.id,
                area: .polygon([
                    MapPoint(x: 0, y: 0), MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 6), MapPoint(x: 0, y: 6),
                ])),
            Room(id: 2, name: "Lab", mapID: map.id, area: .circle(center: MapPoint(x: 15, y: 3), radius: 2)),
        ]
        venue.fences = [
            Fence(id: 1, name: "Door", mapID: map.id, area: .circle(center: MapPoint(x: 18, y: 8), radius: 1))
        ]
        venue.beacons = [MapPoint(x: 2, y: 2), MapPoint(x: 16, y: 8)].enumerated().map { number, point in
            let identity = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16(number))
            return VenueBeacon(identity: identity, mapID: map.id, point: point)
        }
        return venue
    }

    /// The plan of the venue with a layer of each form.
    static func plan(roomName: String = "Office") -> PlanView {
        let venue = venue(roomName: roomName)
        let track = [MapPoint(x: 1, y: 8), MapPoint(x: 8, y: 8), MapPoint(x: 12, y: 7), MapPoint(x: 19, y: 7)]
        return PlanView(
            venue: venue, map: venue.maps[0],
            layers: [
                PlanLayer("68 % radius", .circles([.init(center: track[1], radius: 1.5)]), color: .vermilion),
                PlanLayer("route", .path(track), color: .green, size: 4),
                PlanLayer("errors", .segments([.init(track[1], MapPoint(x: 8, y: 9))]), color: .gray),
                PlanLayer("estimates", .points([MapPoint(x: 8, y: 9)]), color: .vermilion, size: 8),
                PlanLayer("", .label(track[0], "start"), color: .green, size: 10),
                PlanLayer("", .label(track[3], "the end"), color: .green, size: 10),
            ])
    }

    /// The plan with a heat map of four rows of eight cells, one of them without a value.
    static func heatMap() -> PlanView {
        let venue = venue()
        let values = (0..<32).map { $0 == 9 ? Double.nan : -60 - Double($0) }
        let heatMap = HeatMap(
            title: "Expected RSSI", unit: "dBm", origin: MapPoint(x: 0, y: 0), cellSize: 2.5, columns: 8,
            values: values)
        return PlanView(venue: venue, map: venue.maps[0], heatMap: heatMap)
    }
}
