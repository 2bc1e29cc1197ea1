import IndoorVocabulary
import VenueModel

extension SurveyReview {
    /// The maximum number of gaps and of contradictions in the advice.
    private static let adviceLimit = 5

    /// Returns the advice of the review as sentences, the most important first; empty for a survey without a problem.
    ///
    /// Gaps on maps without walkable areas come last, because a plan can contain areas that nobody can reach.
    public func advice(in venue: Venue) -> [String] {
        let whole = venue.maps.filter { map in map.walkable.isEmpty && gaps.contains { $0.mapID == map.id } }
        let unknown = Set(whole.map(\.id))
        var sentences = Self.sentences(
            of: gaps.filter { !unknown.contains($0.mapID) }, in: venue, distance: coverDistance)
        sentences += findings.map { Self.sentence(of: $0, in: venue) }
        sentences += contradictions.prefix(Self.adviceLimit).map { contradiction in
            let place = Self.coordinates(contradiction.point)
            let offset = Self.number(abs(contradiction.offset))
            let map = Self.name(of: contradiction.mapID, in: venue)
            return
                "Repeat the survey at \(place) on \(map): its readings differ from those of its neighbours, by \(offset) dB "
                + "on average."
        }
        if contradictions.count > Self.adviceLimit {
            sentences.append(
                "\(contradictions.count - Self.adviceLimit) more survey points contradict their neighbours.")
        }
        guard !whole.isEmpty else { return sentences }
        sentences += Self.sentences(
            of: gaps.filter { unknown.contains($0.mapID) }, in: venue, distance: coverDistance)
        let names = whole.map(\.name).joined(separator: ", ")
        sentences.append("Add walkable areas to the venue: without them, the review counts the whole plan of \(names).")
        return sentences
    }

    /// Returns the largest gaps as sentences, and the number and area of the others.
    private static func sentences(of gaps: [SurveyGap], in venue: Venue, distance: Double) -> [String] {
        var sentences = gaps.prefix(adviceLimit).map { gap in
            "Walk \(part(of: gap.point, on: gap.mapID, in: venue)): \(number(gap.area)) m² have no survey point within "
                + "\(number(distance)) m."
        }
        let rest = gaps.dropFirst(adviceLimit)
        let area = number(rest.reduce(0) { $0 + $1.area })
        if !rest.isEmpty {
            sentences.append(
                rest.count == 1
                    ? "Walk 1 smaller area without a survey point: \(area) m²."
                    : "Walk \(rest.count) smaller areas without a survey point: \(area) m² in total.")
        }
        return sentences
    }

    /// Returns the finding as a sentence.
    package static func sentence(of finding: BeaconFinding, in venue: Venue) -> String {
        let beacon = "beacon \(venue.name(of: finding.beacon))"
        switch finding.kind {
        case .silent:
            return "Check \(beacon): the survey never detected it, although it came within 10 m of its place."
        case .fewReadings(let places):
            return
                "Walk around \(beacon): the survey detected it at \(places == 1 ? "1 place" : "\(places) places") only."
        case .moved(let place, let deviation, let distance):
            let found =
                "\(coordinates(place.point)) on \(name(of: place.mapID, in: venue)), ± \(number(deviation)) m"
            guard let distance else {
                return "Check the place of \(beacon): its readings are strongest on another map, around \(found)."
            }
            return
                "Check the place of \(beacon): its readings fit a place \(number(distance)) m from the venue's, at \(found)."
        case .weak(let difference):
            return
                "Check the battery and the mounting of \(beacon): its power is \(number(difference)) dB below that of the other "
                + "beacons."
        case .twoTransmitters(let first, let second):
            return
                "Check the identity of \(beacon): two transmitters seem to use it, near \(coordinates(first.point)) on "
                + "\(name(of: first.mapID, in: venue)) and near \(coordinates(second.point)) on \(name(of: second.mapID, in: venue))."
        }
    }

    /// Returns a description of the part of a map that contains a point, with the room if there is one.
    private static func part(of point: MapPoint, on mapID: MapID, in venue: Venue) -> String {
        guard let map = venue.map(mapID), map.width > 0, map.height > 0 else { return "map \(mapID)" }
        let rows = ["top", "", "bottom"]
        let columns = ["left", "", "right"]
        func third(_ share: Double) -> Int { min(max(Int(share * 3), 0), 2) }
        let words = [rows[third(point.y / map.height)], columns[third(point.x / map.width)]].filter { !$0.isEmpty }
        let part = words.isEmpty ? "the middle" : "the \(words.joined(separator: " "))"
        let room = venue.rooms.first { $0.mapID == mapID && $0.area?.contains(point) ?? false }
        let inRoom = room.map { ", \($0.name)" } ?? ""
        return "\(part) of \(map.name) around \(coordinates(point))\(inRoom)"
    }

    private static func name(of mapID: MapID, in venue: Venue) -> String { venue.map(mapID)?.name ?? "map \(mapID)" }

    private static func coordinates(_ point: MapPoint) -> String { "(\(number(point.x)), \(number(point.y)))" }

    /// Returns the text of a number: with one decimal below 10, otherwise without decimals.
    private static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e9 else { return "unknown" }
        let rounded = abs(value) < 10 ? (value * 10).rounded() / 10 : value.rounded()
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }
}
