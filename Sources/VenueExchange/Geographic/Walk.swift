import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

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

/// A writer of walks as GPX 1.1, which most programs for maps and tracks read.
///
/// Each stay on one map, or outdoors, is a track with one segment; its name is that of the map. A point has the time,
/// the room as its description, and HDOP: the 68 % radius divided by 19 m. Positions on maps without a georeference are
/// left out.
///
/// Source: *GPX 1.1 Schema Documentation*, TopoGrafix, 2004.
public struct GPXWriter: Sendable {
    /// Creates a writer.
    public init() {}

    /// Returns the document of a walk.
    public func document(of walk: Walk) -> [UInt8] {
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<gpx version="1.1" creator="IndoorLocalization" xmlns="http://www.topografix.com/GPX/1/1">"#,
            "<metadata><name>\(XMLText.escaped(walk.venue.name))</name></metadata>",
        ]
        for stay in walk.stays {
            lines.append("<trk><name>\(XMLText.escaped(stay.name))</name><trkseg>")
            for point in stay.points { lines.append(Self.point(point, in: walk)) }
            lines.append("</trkseg></trk>")
        }
        lines.append("</gpx>\n")
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns a point, with its children in the order of the schema.
    private static func point(_ point: WalkStay.Point, in walk: Walk) -> String {
        let place = point.coordinate.texts
        var text = #"<trkpt lat="\#(place.latitude)" lon="\#(place.longitude)">"#
        if let time = walk.time(of: point.place.instant) { text += "<time>\(time)</time>" }
        if let label = point.place.label { text += "<desc>\(XMLText.escaped(label))</desc>" }
        if let dilution = FixedDecimals.text(HorizontalDilution.ofRadius(point.place.radius), 3) {
            text += "<hdop>\(dilution)</hdop>"
        }
        return text + "</trkpt>"
    }
}

/// A writer of walks as KML 2.2, for Google Earth, Marble and QGIS.
///
/// Each stay on one map, or outdoors, is a placemark with the name of the map: a `gx:Track` if the times are known, and
/// otherwise a line, or a point for a single position. Positions on maps without a georeference are left out. All
/// positions are drawn on the ground.
///
/// Source: *OGC KML*, version 2.2.0, OGC 07-147r2, 2008; `gx:Track`: *OGC KML 2.3*, OGC 12-007r2, 2015, section 12.
public struct KMLWriter: Sendable {
    /// Creates a writer.
    public init() {}

    /// Returns the document of a walk.
    public func document(of walk: Walk) -> [UInt8] {
        let spaces = #"xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2""#
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#, "<kml \(spaces)>",
            "<Document><name>\(XMLText.escaped(walk.venue.name))</name>",
        ]
        for stay in walk.stays {
            lines.append("<Placemark><name>\(XMLText.escaped(stay.name))</name>")
            if let map = stay.map { lines.append("<description>level \(map.level)</description>") }
            lines += Self.geometry(of: stay, in: walk)
            lines.append("</Placemark>")
        }
        lines.append("</Document></kml>\n")
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static func geometry(of stay: WalkStay, in walk: Walk) -> [String] {
        let places = stay.points.map(\.coordinate.texts)
        let times = stay.points.compactMap { walk.time(of: $0.place.instant) }
        if times.count == places.count {
            return ["<gx:Track>"] + times.map { "<when>\($0)</when>" }
                + places.map { "<gx:coord>\($0.longitude) \($0.latitude) 0</gx:coord>" } + ["</gx:Track>"]
        }
        let type = places.count == 1 ? "Point" : "LineString"
        return ["<\(type)><coordinates>"] + places.map { "\($0.longitude),\($0.latitude)" } + [
            "</coordinates></\(type)>"
        ]
    }
}
