import Foundation
import LiveMap

/// A played session of 41 frames, one a second, in a building of two floors, whose every figure a test can compute.
///
/// For 5 s the session hears only unknown beacons. Then it walks 1 m/s to the right on the ground floor, and from
/// `ascent` on to the left on the upper floor.
struct SampleSession {
    static let start = 100.0
    static let end = 140.0
    /// The first instant with a position.
    static let firstFix = 105.0
    static let ascent = 125.0
    /// The size of both maps in metres.
    static let (width, height) = (40.0, 20.0)
    static let unknownBeacon = "0A0B0C0D-0000-4000-8000-000000000001/9/1"
    static let diagnosis = "The session hears 1 beacon, but it belongs to no known venue."
    static let help = "Add the venue of this beacon to the session."

    /// The number of particles of each frame with a position.
    var particleCount = 200

    /// Returns the estimated place at the instant of a frame; nil without one.
    static func place(at t: Double) -> (map: Int, x: Double, y: Double)? {
        if t < firstFix { return nil }
        return t < ascent ? (1, 8 + (t - firstFix), 12.5) : (2, 28 - (t - ascent), 6.25)
    }

    /// The document of a page that needs no server.
    func document() throws -> LiveMapDocument {
        let content: [String: Any] = [
            "overview": overview(), "plans": [[String: Any]](),
            "frames": stride(from: Self.start, through: Self.end, by: 1).map(frame(at:)), "events": events(),
        ]
        return try JSONDecoder().decode(
            LiveMapDocument.self, from: try JSONSerialization.data(withJSONObject: content))
    }

    private func overview() -> [String: Any] {
        let (width, height) = (Self.width, Self.height)
        let outline = [0, 0, width, 0, width, height, 0, height, 0, 0]
        let maps: [[String: Any]] = [(1, "Ground floor", 0), (2, "Upper floor", 1)].map { id, name, level in
            [
                "id": id, "name": name, "level": level, "width": width, "height": height, "hasImage": false,
                "walls": [outline, [15, 0, 15, 8]], "walkable": [outline],
            ]
        }
        let room = { (id: Int, name: String, map: Int, left: Double, right: Double) -> [String: Any] in
            ["id": id, "name": name, "mapId": map, "polygon": [left, 0, right, 0, right, 8, left, 8]]
        }
        let venue: [String: Any] = [
            "id": 7, "name": "Test building", "version": 3, "maps": maps,
            "rooms": [
                room(1, "Lobby", 1, 0, 15), room(2, "Workshop", 1, 15, 40), room(3, "Library", 2, 0, 15),
                room(4, "Archive", 2, 15, 40),
            ],
            "fences": [
                ["id": 5, "name": "Entrance", "mapId": 1, "circle": ["x": 3, "y": 17, "radius": 2]] as [String: Any]
            ],
            "pointsOfInterest": [["id": 6, "name": "Desk", "mapId": 1, "x": 34, "y": 16] as [String: Any]],
            "beacons": (1...4).map { minor -> [String: Any] in
                let (x, y) = (Double(minor) * 8, minor % 2 == 0 ? 3.0 : 17.0)
                return ["id": Self.beacon(minor), "mapId": minor < 3 ? 1 : 2, "x": x, "y": y]
            },
        ]
        return [
            "mode": "recording", "title": "Sample walk", "start": Self.start, "end": Self.end, "acceptsMarks": false,
            "venues": [venue],
        ]
    }

    private static func beacon(_ minor: Int) -> String { "0A0B0C0D-0000-4000-8000-000000000001/1/\(minor)" }

    private func frame(at t: Double) -> [String: Any] {
        var frame: [String: Any] = [
            "id": Int(t) * 2, "t": t, "venueId": 7, "route": [[String: Any]](), "particles": [[String: Any]](),
        ]
        guard let place = Self.place(at: t) else {
            frame["state"] = "searchVenue"
            frame["text"] = "searches for a venue"
            frame["venueId"] = nil
            frame["levels"] = [[String: Any]]()
            frame["beacons"] = [["id": Self.unknownBeacon, "rssi": -71, "age": 0.5, "isKnown": false] as [String: Any]]
            frame["diagnosis"] =
                [
                    "reason": "unknownBeacons", "text": Self.diagnosis, "help": Self.help,
                    "beacons": [Self.unknownBeacon],
                ] as [String: Any]
            return frame
        }
        frame["state"] = "localizationRunning"
        frame["text"] = "emits positions"
        frame["mapId"] = place.map
        let certainty = place.map == 1 ? 0.75 : 0.875
        frame["levels"] = [
            ["mapId": place.map, "probability": certainty], ["mapId": 3 - place.map, "probability": 1 - certainty],
        ]
        frame["estimate"] =
            [
                "t": t, "mapId": place.map, "x": place.x, "y": place.y, "radius": 2.5,
                "course": place.map == 1 ? 90 : 270, "speed": 1, "label": place.map == 1 ? "Corridor" : "Library",
                "floorCertainty": certainty,
            ] as [String: Any]
        frame["truth"] = ["mapId": place.map, "x": place.x + 3, "y": place.y + 4]
        frame["error"] = 5
        frame["beacons"] = (1...4).map { minor -> [String: Any] in
            [
                "id": Self.beacon(minor), "rssi": -60 - 3 * minor, "age": 0.25 * Double(minor),
                "expected": -62 - 3 * minor,
                "deviation": 4, "isKnown": true,
            ]
        }
        frame["particles"] = [["mapId": place.map, "points": particles(around: place.x, place.y, seed: UInt64(t))]]
        return frame
    }

    /// Returns a square of particles with sides of 4 m, as base64.
    private func particles(around x: Double, _ y: Double, seed: UInt64) -> String {
        // The linear congruential generator of D. Knuth, MMIX: the same points on each run.
        var state = seed
        func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(1 << 31)
        }
        var bytes = Data(capacity: 4 * particleCount)
        for _ in 0..<particleCount {
            let place = [(x + 4 * (next() - 0.5)) / Self.width, (y + 4 * (next() - 0.5)) / Self.height]
            for part in place {
                let value = UInt16(65_535 * min(1, max(0, part)))
                bytes.append(contentsOf: [UInt8(value & 255), UInt8(value >> 8)])
            }
        }
        return bytes.base64EncodedString()
    }

    private func events() -> [[String: Any]] {
        [
            ["id": 201, "t": 100, "kind": "diagnosis", "text": Self.diagnosis],
            ["id": 211, "t": Self.firstFix, "kind": "state", "text": "emits positions", "mapId": 1],
            ["id": 251, "t": Self.ascent, "kind": "floor", "text": "Upper floor", "mapId": 2],
            ["id": 261, "t": 130, "kind": "area", "text": "entered Library", "mapId": 2],
        ]
    }
}
