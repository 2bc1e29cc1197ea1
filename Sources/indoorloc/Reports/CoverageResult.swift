import IndoorLocalization
import LocalizationFigures

/// The expected errors of a venue's maps and the proposed beacons, as a figure, as text and as JSON.
struct CoverageResult {
    let venue: Venue
    let grids: [CoverageGrid]
    let proposals: [ProposedBeacon]
    /// The target of the 68 % error in metres; nil for none.
    let target: Double?
    /// The images of the venue's maps.
    var pictures: [MapID: PlanPicture] = [:]

    /// The largest expected error in metres on the heat map's scale.
    private static let most = 12.0

    /// The heat map of each map with the existing and the proposed beacons.
    func figure(_ layout: FigureLayout = .wide) -> Figure {
        let errors = grids.flatMap(\.errors).compactMap { $0 }
        let high = min(max(errors.max() ?? 1, 2), Self.most).rounded(.up)
        let panels = grids.compactMap { grid -> FigurePanel? in
            guard let map = venue.map(grid.mapID) else { return nil }
            let heat = HeatMap(
                title: "Expected 68 % error", unit: "m", origin: MapPoint(x: 0, y: 0), cellSize: grid.cellSize,
                columns: grid.columns, values: grid.errors.map { $0 ?? .nan }, range: 0...high, isReversed: true)
            var layers: [PlanLayer] = []
            let places = proposals.enumerated().filter { $0.element.mapID == grid.mapID }
            if !places.isEmpty {
                layers.append(
                    PlanLayer("proposed beacons", .squares(places.map(\.element.point)), color: .vermilion, size: 9))
                layers += places.map { index, beacon in
                    PlanLayer("", .label(beacon.point, "\(index + 1)"), color: .vermilion, size: 7)
                }
            }
            return .plan(PlanView(venue: venue, map: map, pictures: pictures, heatMap: heat, layers: layers))
        }
        return Figure(
            title: "Expected 68 % error: \(venue.name)",
            description: "The expected 68 % error of positions on the floor plans of \(venue.name). "
                + lines.joined(separator: " "), caption: lines, panels: panels,
            width: layout.width(columns: 1))
    }

    /// One line for each map and each proposed beacon.
    var lines: [String] {
        grids.map { grid in
            let name = venue.map(grid.mapID)?.name ?? "map \(grid.mapID)"
            let mean = grid.meanError.map { "\(Self.metres($0)) m" } ?? "unknown"
            var line = "\(name): the mean expected 68 % error is \(mean)"
            if let target, let share = grid.share(within: target) {
                line +=
                    "; \(Self.percent(share)) of the walkable area has an expected error of at most "
                    + "\(Self.metres(target)) m"
            }
            return line + "."
        }
            + proposals.enumerated().map { index, beacon in
                let name = venue.map(beacon.mapID)?.name ?? "map \(beacon.mapID)"
                let place = [beacon.point.x, beacon.point.y].map { JSONText.number($0, decimals: 1) }
                var line =
                    "Proposed beacon \(index + 1) at (\(place[0]), \(place[1])) on \(name): with it, the mean expected "
                    + "68 % error\(grids.count > 1 ? " of all maps" : "") is \(Self.metres(beacon.meanError)) m"
                if let target, let share = beacon.shareWithinTarget {
                    line += ", and \(Self.percent(share)) of the walkable area has at most \(Self.metres(target)) m"
                }
                return line + "."
            }
    }

    private static func metres(_ value: Double) -> String { JSONText.number(value, decimals: 2) }
    private static func percent(_ share: Double) -> String { JSONText.number(share * 100, decimals: 0) + " %" }

    /// The result as one JSON object.
    var json: JSONText {
        var json = JSONText()
        json.add("venueId", venue.id.rawValue)
        json.add("target", target, decimals: 2)
        json.add("maps", grids.map(cells(of:)))
        json.add(
            "proposedBeacons",
            proposals.map { beacon in
                var json = JSONText()
                json.add("mapId", beacon.mapID.rawValue)
                json.add("x", beacon.point.x, decimals: 2)
                json.add("y", beacon.point.y, decimals: 2)
                json.add("meanError", beacon.meanError, decimals: 3)
                json.add("shareWithinTarget", beacon.shareWithinTarget, decimals: 3)
                return json
            })
        return json
    }

    private func cells(of grid: CoverageGrid) -> JSONText {
        var json = JSONText()
        json.add("mapId", grid.mapID.rawValue)
        json.add("cellSize", grid.cellSize, decimals: 3)
        json.add("columns", grid.columns)
        json.add("rows", grid.rows)
        json.add("meanError", grid.meanError, decimals: 3)
        json.add("shareWithinTarget", target.flatMap(grid.share(within:)), decimals: 3)
        json.add("errors", grid.errors.map { $0 ?? .nan }, decimals: 2)
        json.add("detectedBeacons", grid.detectedBeacons, decimals: 2)
        return json
    }
}
