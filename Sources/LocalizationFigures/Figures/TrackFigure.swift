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
    ///   - caption: paragraphs below the plans.
    public static func track(
        title: String, venue: Venue, maps: Set<MapID>? = nil, truth: [SurveyRecording.Waypoint],
        positions: [Position], caption: [String] = []
    ) -> Figure {
        let used = maps ?? Set(truth.map(\.mapID) + positions.map(\.mapID))
        let shown = venue.maps.filter { used.contains($0.id) }.sorted { $0.level > $1.level }
        let panels = shown.map { map in
            FigurePanel.plan(
                PlanView(
                    venue: venue, map: map, title: shown.count > 1 || venue.maps.count > 1 ? nil : "",
                    layers: layers(on: map.id, truth, positions)))
        }
        let floors = shown.map(\.name).joined(separator: ", ")
        let content = truth.isEmpty ? "Estimated positions" : "Estimated positions and ground truth"
        return Figure(
            title: title, description: "\(content) on the plan of \(floors). \(caption.joined(separator: " "))",
            caption: caption, panels: panels, columns: shown.count > 1 ? 2 : 1, width: shown.count > 1 ? 1100 : 800)
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
        let step = max(1, (positions.count + radiusLimit - 1) / radiusLimit)
        return stride(from: step / 2, to: positions.count, by: step).map {
            PlanLayer.Circle(center: positions[$0].point, radius: positions[$0].radius)
        }
    }
}
