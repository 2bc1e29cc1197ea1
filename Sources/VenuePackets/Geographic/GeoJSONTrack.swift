import IndoorVocabulary
import TextFormats
import VenueModel

/// Creates the features of a track.
struct GeoJSONTrack {
    let plans: GeoJSONPlans

    /// The time in seconds without a position after which a line ends, because the route in between is unknown.
    static let longestSilence = 10.0
    /// The same for the ground truth, which often consists of waypoints only.
    static let longestSilenceOfTruth = 60.0

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
        return features + (try lines(of: places, "track", longestSilence: Self.longestSilence))
    }

    /// Returns features of positions on Earth, which have no map and no level.
    func features(ofOutdoor positions: [OutdoorPosition]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for position in positions {
            features.append(
                GeoJSONPlans.feature(
                    "outdoorPosition", GeoJSONPlans.geometry("Point", try Self.point(of: position)),
                    [
                        "t": Self.seconds(position.instant), "radius": Self.rounded(position.radius),
                        "altitude": position.altitude.flatMap(Self.rounded),
                        "speed": position.speed.flatMap(Self.rounded),
                        "course": position.course.flatMap(Self.rounded),
                    ]))
        }
        for stay in positions.runs({ $0.instant.seconds - $1.instant.seconds <= Self.longestSilence }) {
            guard let first = stay.first, let last = stay.last, stay.count > 1 else { continue }
            var points: [JSONTree] = []
            for position in stay { points.append(try Self.point(of: position)) }
            features.append(
                GeoJSONPlans.feature(
                    "outdoorTrack", GeoJSONPlans.geometry("LineString", .array(points)),
                    ["from": Self.seconds(first.instant), "to": Self.seconds(last.instant)]))
        }
        return features
    }

    private static func point(of position: OutdoorPosition) throws(GeoJSONError) -> JSONTree {
        let coordinate = position.coordinate
        guard coordinate.isValid else { throw .invalidNumber("an outdoor position") }
        return GeoJSONPlans.position(coordinate)
    }

    func features(ofTruth truth: [GeoJSONPlace]) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        for place in truth {
            let geometry = try plans.pointGeometry(place.point, on: place.mapID, of: "a ground truth position")
            features.append(plans.feature("truth", on: place.mapID, geometry, ["t": Self.seconds(place.instant)]))
        }
        return features + (try lines(of: truth, "truthTrack", longestSilence: Self.longestSilenceOfTruth))
    }

    /// Returns a line for each stay on one map with at least two points; a stay ends after a long time without a point.
    private func lines(
        of places: [GeoJSONPlace], _ kind: String, longestSilence: Double
    ) throws(GeoJSONError) -> [JSONTree] {
        var features: [JSONTree] = []
        let stays = places.runs {
            $0.mapID == $1.mapID && $0.instant.seconds - $1.instant.seconds <= longestSilence
        }
        for stay in stays {
            guard let first = stay.first, let last = stay.last, stay.count > 1 else { continue }
            let geometry = try plans.lineGeometry(stay.map(\.point), on: first.mapID, of: "a track")
            features.append(
                plans.feature(
                    kind, on: first.mapID, geometry,
                    ["from": Self.seconds(first.instant), "to": Self.seconds(last.instant)]))
        }
        return features
    }

    /// Returns seconds, rounded to milliseconds.
    private static func seconds(_ instant: Instant) -> JSONTree { .number((instant.seconds * 1000).rounded() / 1000) }

    /// Returns the value, rounded to thousandths; nil if it isn't finite.
    private static func rounded(_ value: Double) -> JSONTree? {
        value.isFinite ? .number((value * 1000).rounded() / 1000) : nil
    }
}

extension Array {
    /// Returns the elements in runs, in which each element continues the one before it.
    fileprivate func runs(_ goesOn: (_ next: Element, _ last: Element) -> Bool) -> [[Element]] {
        var runs: [[Element]] = []
        for element in self {
            if let last = runs.last?.last, goesOn(element, last) {
                runs[runs.count - 1].append(element)
            } else {
                runs.append([element])
            }
        }
        return runs
    }
}
