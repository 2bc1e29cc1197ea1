import IndoorLocalization

/// The features of a track's export.
struct GeoJSONTrack {
    let plans: GeoJSONPlans

    func features(of positions: [Position]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for position in positions {
            let geometry = try plans.pointGeometry(position.point, on: position.mapID, of: "a position")
            features.append(
                plans.feature(
                    "position", on: position.mapID, geometry,
                    [
                        "t": Self.seconds(position.instant), "radius": Self.rounded(position.radius),
                        "label": position.label.map(JSONTree.string), "course": position.course.flatMap(Self.rounded),
                    ]))
        }
        let places = positions.map { GeoJSONPlace(instant: $0.instant, mapID: $0.mapID, point: $0.point) }
        return features + (try lines(of: places, "track"))
    }

    func features(ofTruth truth: [GeoJSONPlace]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for place in truth {
            let geometry = try plans.pointGeometry(place.point, on: place.mapID, of: "a truth")
            features.append(plans.feature("truth", on: place.mapID, geometry, ["t": Self.seconds(place.instant)]))
        }
        return features + (try lines(of: truth, "truthTrack"))
    }

    /// A line for each stay on one map with two places or more.
    private func lines(of places: [GeoJSONPlace], _ kind: String) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for stay in places.stays {
            guard let first = stay.first, let last = stay.last, stay.count > 1 else { continue }
            let geometry = try plans.lineGeometry(stay.map(\.point), on: first.mapID, of: "a track")
            features.append(
                plans.feature(
                    kind, on: first.mapID, geometry,
                    ["from": Self.seconds(first.instant), "to": Self.seconds(last.instant)]))
        }
        return features
    }

    /// Seconds in whole milliseconds.
    private static func seconds(_ instant: Instant) -> JSONTree { .number((instant.seconds * 1000).rounded() / 1000) }

    /// In thousandths; nil for what is no number.
    private static func rounded(_ value: Double) -> JSONTree? {
        value.isFinite ? .number((value * 1000).rounded() / 1000) : nil
    }
}

extension Array where Element == GeoJSONPlace {
    /// The places in runs that stay on one map.
    fileprivate var stays: [[GeoJSONPlace]] {
        var runs: [[GeoJSONPlace]] = []
        for place in self {
            if let last = runs.last?.last, last.mapID == place.mapID {
                runs[runs.count - 1].append(place)
            } else {
                runs.append([place])
            }
        }
        return runs
    }
}
