import IndoorVocabulary
import TextFormats
import VenueModel

/// The positions of a session, for files of other programs.
///
///     let walk = Walk(venue: venue, positions: positions, wallClock: WallClock(timeOfZero: start))
///     let bytes = GPXWriter().document(of: walk)
public struct Walk: Sendable {
    /// The venue of the positions.
    package var venue: Venue
    /// The positions in the venue, in order of time.
    package var positions: [Position]
    /// The positions outside the venue, in order of time.
    package var outdoorPositions: [OutdoorPosition]
    /// The wall clock of the instants; nil if it is unknown. Without it, the files have no times.
    package var wallClock: WallClock?

    /// Creates a walk.
    public init(
        venue: Venue, positions: [Position], outdoorPositions: [OutdoorPosition] = [], wallClock: WallClock? = nil
    ) {
        self.venue = venue
        self.positions = positions
        self.outdoorPositions = outdoorPositions
        self.wallClock = wallClock
    }

    /// All positions, in order of time.
    var places: [LocatedPlace] {
        var places: [LocatedPlace] = []
        var outside = outdoorPositions[...]
        for position in positions {
            while let first = outside.first, first.instant < position.instant {
                places.append(.outdoors(outside.removeFirst()))
            }
            places.append(.indoors(position))
        }
        return places + outside.map(LocatedPlace.outdoors)
    }

    /// Returns the time of an instant as ISO 8601; nil without a wall clock.
    func time(of instant: Instant) -> String? { wallClock.map { CivilTime($0.unixTime(at: instant)).text } }
}

/// A part of a walk on one map, or outdoors.
struct WalkStay {
    /// A position with a coordinate.
    struct Point {
        let coordinate: Coordinate
        let place: LocatedPlace
    }

    /// The name of the map; nil outdoors.
    let map: VenueMap?
    var points: [Point]

    /// The name of the map, or `Outdoors`.
    var name: String { map?.name ?? "Outdoors" }
}

extension Walk {
    /// The continuous parts of the walk, without the positions on maps that have no georeference.
    ///
    /// A stay ends with a change of map, or when there is no position for more than 10 s, because the route in between
    /// is unknown.
    var stays: [WalkStay] {
        var stays: [WalkStay] = []
        var last: LocatedPlace?
        for place in places {
            guard let coordinate = place.coordinate, coordinate.isValid else { continue }
            let point = WalkStay.Point(coordinate: coordinate, place: place)
            if let last, Self.isSameStay(last, place) {
                stays[stays.count - 1].points.append(point)
            } else {
                stays.append(WalkStay(map: place.mapID.flatMap(venue.map), points: [point]))
            }
            last = place
        }
        return stays
    }

    private static func isSameStay(_ last: LocatedPlace, _ next: LocatedPlace) -> Bool {
        last.mapID == next.mapID && next.instant.seconds - last.instant.seconds <= GeoJSONTrack.longestSilence
    }
}

extension LocatedPlace {
    /// The map; nil outdoors.
    var mapID: MapID? { if case .indoors(let position) = self { position.mapID } else { nil } }

    /// The name of the room; nil if there is none.
    var label: String? { if case .indoors(let position) = self { position.label } else { nil } }
}

extension Coordinate {
    /// Latitude and longitude in degrees with eight decimals, which are 1 mm.
    var texts: (latitude: String, longitude: String) {
        (FixedDecimals.text(latitude, 8) ?? "", FixedDecimals.text(longitude, 8) ?? "")
    }
}
