import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension Figure {
    /// The maximum number of error radii on a plan, so that they don't hide each other.
    private static let radiusLimit = 16

    /// Creates a figure of a track on the plans of its floors: the estimated positions with some of their radii, and
    /// the ground truth if it is known.
    ///
    /// - Parameters:
    ///   - title: the title.
    ///   - venue: the venue.
    ///   - maps: the maps to draw; nil for all maps with a ground truth or a position.
    ///   - truth: the ground truth, ordered by instant; may be empty.
    ///   - positions: the estimated positions, ordered by instant.
    ///   - pictures: the images of the venue's maps.
    ///   - caption: paragraphs below the plans.
    package static func track(
        title: String, venue: Venue, maps: Set<MapID>? = nil, truth: [SurveyRecording.Waypoint],
        positions: [Position], pictures: [MapID: PlanPicture] = [:], caption: [String] = [],
        layout: FigureLayout = .wide
    ) -> Figure {
        let used = maps ?? Set(truth.map(\.mapID) + positions.map(\.mapID))
        let shown = venue.maps.filter { used.contains($0.id) }.sorted { $0.level > $1.level }
        let panels = shown.map { map in
            FigurePanel.plan(
                PlanView(
                    venue: venue, map: map, title: shown.count > 1 || venue.maps.count > 1 ? nil : "",
                    pictures: pictures, layers: layers(on: map.id, truth, positions)))
        }
        let floors = shown.map(\.name).joined(separator: ", ")
        let content = truth.isEmpty ? "Estimated positions" : "Estimated positions and ground truth"
        return Figure(
            title: title, description: "\(content) on the plan of \(floors). \(caption.joined(separator: " "))",
            caption: caption, panels: panels, columns: layout.columns(shown.count > 1 ? 2 : 1),
            width: layout.width(columns: shown.count))
    }

    private static func layers(
        on map: MapID, _ truth: [SurveyRecording.Waypoint], _ positions: [Position]
    ) -> [PlanLayer] {
        let estimates = positions.filter { $0.mapID == map }
        var layers: [PlanLayer] = []
        let circles = radii(of: estimates)
        if !circles.isEmpty { layers.append(PlanLayer("68 % radius (some)", .circles(circles), color: .vermilion)) }
        let path = points(truth.map { $0.mapID == map ? $0.point : nil })
        if path.contains(where: \.isFinite) {
            layers.append(PlanLayer("ground truth", .path(path), color: .green, size: 4))
            // A stay is a path without length.
            layers.append(PlanLayer("", .points(path), color: .green, size: 5))
        }
        if !estimates.isEmpty {
            let line = points(positions.map { $0.mapID == map ? $0.point : nil })
            layers.append(PlanLayer("estimates", .path(line), color: .vermilion, size: 1.5))
            layers.append(PlanLayer("", .points(estimates.map(\.point)), color: .vermilion, size: 4))
        }
        let first = truth.first.map { ($0.mapID, $0.point) } ?? positions.first.map { ($0.mapID, $0.point) }
        let last = truth.last.map { ($0.mapID, $0.point) } ?? positions.last.map { ($0.mapID, $0.point) }
        let color = truth.isEmpty ? FigureColor.vermilion : .green
        if let first, let last, first.0 == map, last.0 == map, first.1.distance(to: last.1) < 1 {
            layers.append(PlanLayer("", .label(first.1, "start and end"), color: color, size: 10))
            return layers
        }
        if let first, first.0 == map { layers.append(PlanLayer("", .label(first.1, "start"), color: color, size: 10)) }
        if let last, last.0 == map { layers.append(PlanLayer("", .label(last.1, "end"), color: color, size: 10)) }
        return layers
    }

    /// Returns the points, with a gap wherever some are missing.
    private static func points(_ points: [MapPoint?]) -> [MapPoint] {
        points.map { $0 ?? MapPoint(x: .nan, y: .nan) }
    }

    /// The radii of some of the positions, at equal distances in the list.
    private static func radii(of positions: [Position]) -> [PlanLayer.Circle] {
        let positions = positions.filter(\.radius.isFinite)
        let step = max(1, (positions.count + radiusLimit - 1) / radiusLimit)
        return stride(from: step / 2, to: positions.count, by: step).map {
            PlanLayer.Circle(center: positions[$0].point, radius: positions[$0].radius)
        }
    }
}

extension Figure {
    /// The beacons of a plan of the expected RSSI.
    package enum RadioMapContent: Hashable, Sendable {
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
    ///   - pictures: the images of the venue's maps.
    package static func radioMap(
        title: String, venue: Venue, field: SignalField, maps: [VenueMap], contents: [RadioMapContent],
        pictures: [MapID: PlanPicture] = [:], caption: [String] = [], layout: FigureLayout = .wide
    ) -> Figure? {
        var plans: [PlanView] = []
        for content in contents {
            for map in maps.sorted(by: { $0.level > $1.level }) {
                guard var plan = plan(of: content, on: map, venue, field, namesMap: maps.count > 1) else { continue }
                plan.picture = pictures[map.id]
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
            caption: caption, panels: plans.map(FigurePanel.plan),
            columns: layout.columns(plans.count > 1 ? 2 : 1), width: layout.width(columns: plans.count))
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
