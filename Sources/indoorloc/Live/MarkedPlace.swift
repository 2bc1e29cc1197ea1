import Foundation
import IndoorLocalization
import VenuePackets

/// A place on a map at which the user marks the ground truth.
struct MarkedPlace: Hashable, Sendable {
    let mapID: MapID
    let point: MapPoint

    init(mapID: MapID, point: MapPoint) {
        self.mapID = mapID
        self.point = point
    }

    /// Reads `MAP,X,Y`; returns nil for other text.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard parts.count == 3, let map = Int(parts[0]), let x = Double(parts[1]), let y = Double(parts[2]),
            x.isFinite, y.isFinite
        else { return nil }
        self.init(mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y))
    }

    /// The place in words.
    var description: String {
        "map \(mapID), \(JSONText.number(point.x, decimals: 2)), \(JSONText.number(point.y, decimals: 2))"
    }

    /// Returns the reason why the place is not in a venue; nil if it is.
    func problem(in venue: Venue) -> String? {
        guard let map = venue.map(mapID) else {
            let maps = venue.maps.map { "\($0.id) (\($0.name))" }.joined(separator: ", ")
            return "'\(venue.name)' has no map \(mapID); its maps are \(maps)"
        }
        guard !(0...map.width ~= point.x && 0...map.height ~= point.y) else { return nil }
        let size = [map.width, map.height].map { JSONText.number($0, decimals: 2) }
        return "the point is outside of map \(mapID), which is \(size[0]) m wide and \(size[1]) m high"
    }
}

/// The list of places that the user visits in order, and the position in the list.
struct MarkList: Sendable {
    /// The error of a file of places.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The places in the order of the walk.
    let places: [MarkedPlace]
    /// The number of marked places.
    private(set) var marked = 0

    init(_ places: [MarkedPlace]) { self.places = places }

    /// Reads a file with one `MAP,X,Y` on each line. Empty lines and lines that begin with `#` have no place.
    ///
    /// - Parameter venue: the venue of the places; nil if it is unknown.
    /// - Throws: `Failure` with the file, the line and the reason.
    init(file path: String, venue: Venue?) throws(Failure) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(description: InputFailure(path).description)
        }
        var places: [MarkedPlace] = []
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            guard let place = MarkedPlace(text) else {
                throw Failure(
                    description: "\(path), line \(index + 1): expected MAP,X,Y, such as 1,4.5,2, not '\(text)'")
            }
            if let problem = venue.flatMap(place.problem) {
                throw Failure(description: "\(path), line \(index + 1): \(problem)")
            }
            places.append(place)
        }
        guard !places.isEmpty else {
            throw Failure(description: "\(path): no place; write one MAP,X,Y on each line, in the order of the walk")
        }
        self.places = places
    }

    /// The next place to mark; nil after the last one.
    var next: MarkedPlace? { places.indices.contains(marked) ? places[marked] : nil }

    /// The next step of the user in words.
    var prompt: String {
        guard let next else { return "all \(places.count) marks are set; press Ctrl-C to end, or u to undo" }
        let undo = marked > 0 ? ", or u to undo" : ""
        // Up to two decimals, as people write them.
        let point = [next.point.x, next.point.y].map { value in
            let text = JSONText.number(value, decimals: 2)
            return text.replacing(/\.?0+$/, with: "")
        }
        return "point \(marked + 1) of \(places.count): (\(point[0]), \(point[1])) m on map \(next.mapID); "
            + "press Enter when you are there\(undo)"
    }

    /// Advances to the next place.
    mutating func advance() { marked = min(marked + 1, places.count) }

    /// Goes back to the previous place.
    mutating func goBack() { marked = max(0, marked - 1) }
}
