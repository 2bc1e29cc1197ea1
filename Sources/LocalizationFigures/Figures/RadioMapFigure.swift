import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension Figure {
    /// The beacons of a plan of the expected RSSI.
    public enum RadioMapContent: Hashable, Sendable {
        /// One beacon.
        case beacon(BeaconIdentity, name: String)
        /// At each point, the beacon with the strongest expected RSSI.
        case strongest
    }

    /// Creates a figure of the expected RSSI on the plans of a venue, with the places of the survey.
    ///
    /// Places where no beacon can be received are left blank, and maps without any such place are left out. All plans
    /// have the same scale of colours. Returns nil if no beacon can be received on any of the maps.
    /// - Parameters:
    ///   - field: the tables of the venue with its radio map.
    ///   - maps: the maps; the panels begin with the highest floor.
    package static func radioMap(
        title: String, venue: Venue, field: SignalField, maps: [VenueMap], contents: [RadioMapContent],
        caption: [String] = []
    ) -> Figure? {
        var plans: [PlanView] = []
        for content in contents {
            for map in maps.sorted(by: { $0.level > $1.level }) {
                guard let plan = plan(of: content, on: map, venue, field, namesMap: maps.count > 1) else { continue }
                plans.append(plan)
            }
        }
        guard !plans.isEmpty else { return nil }
        let values = plans.flatMap { $0.heatMap?.values ?? [] }.filter(\.isFinite)
        let range = (values.min() ?? -100)...(values.max() ?? -40)
        for index in plans.indices { plans[index].heatMap?.range = range }
        return Figure(
            title: title,
            description: "Expected RSSI on the plans of \(venue.name). " + caption.joined(separator: " "),
            caption: caption, panels: plans.map(FigurePanel.plan), columns: plans.count > 1 ? 2 : 1,
            width: plans.count > 1 ? 1100 : 800)
    }

    /// The plan of a map; nil for a beacon that can't be received on it.
    private static func plan(
        of content: RadioMapContent, on map: VenueMap, _ venue: Venue, _ field: SignalField, namesMap: Bool
    ) -> PlanView? {
        guard let grid = field.maps.first(where: { $0.mapID == map.id })?.grid else { return nil }
        var values = [Double](repeating: .nan, count: grid.count)
        let beacons: [BeaconIdentity] =
            switch content {
            case .beacon(let beacon, _): [beacon]
            case .strongest: field.beacons
            }
        for index in beacons.compactMap({ field.indexes[$0] }) {
            for cell in 0..<grid.count {
                guard let expected = field.expectation(of: index, at: grid.center(of: cell), on: map.id),
                    expected.rssi > inaudible
                else { continue }
                values[cell] = values[cell].isNaN ? expected.rssi : max(values[cell], expected.rssi)
            }
        }
        guard values.contains(where: \.isFinite) else { return nil }
        let heatMap = HeatMap(
            title: "Expected RSSI", unit: "dBm", origin: grid.origin, cellSize: grid.cellSize, columns: grid.columns,
            values: values)
        var plan = PlanView(venue: venue, map: map, heatMap: heatMap)
        let learned = venue.radioMap?.beacons ?? []
        switch content {
        case .strongest:
            if plan.beacons.isEmpty { plan.beacons = learned.filter { $0.mapID == map.id }.map(\.point) }
            if !namesMap { plan.title = "" }
        case .beacon(let beacon, let name):
            plan.title = namesMap ? "\(name), \(map.name)" : name
            plan.beacons = venue.beacons(on: map.id).filter { $0.identity == beacon }.map(\.point)
            if plan.beacons.isEmpty {
                plan.beacons = learned.filter { $0.identity == beacon && $0.mapID == map.id }.map(\.point)
            }
        }
        let places = venue.radioMap?.fingerprints.filter { $0.mapID == map.id }.map(\.point) ?? []
        if !places.isEmpty {
            var layer = PlanLayer(
                "survey points", .points(places), color: .gray, size: places.count > 300 ? 2 : 3)
            layer.isOutlined = true
            plan.layers.append(layer)
        }
        return plan
    }

    /// The RSSI in dBm at or below which a beacon can't be received.
    private static let inaudible = -102.9
}
