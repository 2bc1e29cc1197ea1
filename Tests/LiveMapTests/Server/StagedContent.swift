import Foundation
import IndoorVocabulary
import LiveMap

/// A live map's content that a test stages.
final class StagedContent: LiveMapContent {
    private struct State {
        var updates: [LiveMapUpdate] = []
        var readers: [Int: AsyncStream<LiveMapUpdate>.Continuation] = [:]
        var started = 0
        var marks: [LiveMapFrame.Place] = []
        var refusal: String?
        var isBroken = false
        var hasRadioMap = true
    }

    private let state = Guarded(State())
    let image = LiveMapImage(bytes: [0x89, 0x50, 0x4E, 0x47, 1, 2, 3], mediaType: "image/png")

    init(frames: Int = 0) { for id in 1..<(frames + 1) { emit(.frame(Self.frame(id))) } }

    var marks: [LiveMapFrame.Place] { state.withLock { $0.marks } }
    /// The number of streams that were begun and that have not ended.
    var readers: Int { state.withLock { $0.readers.count } }

    /// Refuses marks with a reason.
    func refuse(_ reason: String) { state.withLock { $0.refusal = reason } }

    /// Gives all parts of the content a number that JSON can't represent.
    func breakNumbers() { state.withLock { $0.isBroken = true } }

    func removeRadioMap() { state.withLock { $0.hasRadioMap = false } }

    private func broken<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
        var value = value
        if state.withLock({ $0.isBroken }) { change(&value) }
        return value
    }

    /// Emits an update to all readers.
    func emit(_ update: LiveMapUpdate) {
        let readers = state.withLock { state in
            state.updates.append(update)
            return Array(state.readers.values)
        }
        for reader in readers { reader.yield(update) }
    }

    private static func decoded<Value: Decodable>(_ json: String) -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(json.utf8)) } catch { fatalError("\(error)") }
    }

    /// A frame with all of its parts; its instant is half of its number.
    static func frame(_ id: Int, particles: String = "AAAA/w==") -> LiveMapFrame {
        decoded(
            """
            {"id": \(id), "t": \(Double(id) / 2), "state": "positioning", "text": "positioning", "venueId": 7, "mapId": 1,
            "estimate": {"t": 1, "mapId": 1, "x": 2.5, "y": 3, "radius": 1.5, "course": 90, "speed": 1,
            "label": "Kitchen", "floorCertainty": 0.9},
            "levels": [{"mapId": 1, "probability": 1}], "particles": [{"mapId": 1, "points": "\(particles)"}],
            "beacons": [{"id": "f7826da6/1/2", "rssi": -60, "age": 0.5, "expected": -61, "deviation": 3, "isKnown": true}],
            "route": [{"mapId": 1, "x": 1, "y": 1}], "truth": {"mapId": 1, "x": 2, "y": 3}, "error": 0.5,
            "diagnosis": {"reason": "unknownBeacons", "text": "unknown", "help": "add them", "beacons": ["a/1/2"]}}
            """)
    }

    /// A frame with none of its optional parts.
    static func bareFrame(_ id: Int) -> LiveMapFrame {
        decoded(
            """
            {"id": \(id), "t": \(Double(id) / 2), "state": "idle", "text": "idle", "levels": [], "particles": [],
            "beacons": [], "route": []}
            """)
    }

    static func event(_ id: Int) -> LiveMapEvent {
        decoded(#"{"id": \#(id), "t": \#(Double(id) / 2), "kind": "area", "text": "entered Kitchen", "mapId": 1}"#)
    }

    func overview() async -> LiveMapOverview {
        let overview: LiveMapOverview = Self.decoded(
            """
            {"mode": "recording", "title": "walk", "start": 0, "end": 10, "acceptsMarks": true, "venues": [
            {"id": 7, "name": "Office", "version": 3, "maps": [{"id": 1, "name": "Ground", "level": 0, "width": 20,
            "height": 10, "hasImage": true, "walls": [[0, 0, 1, 1]], "walkable": [[0, 0, 5, 0, 5, 5]],
            "tiles": {"width": 400, "height": 200, "tileSize": 256, "overlap": 1, "format": "png"}}],
            "rooms": [{"id": 1, "name": "Kitchen", "mapId": 1, "polygon": [0, 0, 1, 0, 1, 1]}],
            "fences": [{"id": 2, "name": "Door", "mapId": 1, "circle": {"x": 1, "y": 2, "radius": 3}}],
            "pointsOfInterest": [{"id": 3, "name": "Exit", "mapId": 1, "x": 1, "y": 2}],
            "beacons": [{"id": "f7826da6/1/2", "mapId": 1, "x": 4, "y": 5}]}]}
            """)
        return broken(overview) { $0.start = .nan }
    }

    func plan(venue: Int, map: Int) async -> LiveMapImage? { venue == 7 && map == 1 ? image : nil }

    func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        venue == 7 && map == 1 && level == 8 && column == 1 && row == 0 ? image : nil
    }

    func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame] {
        let frames = state.withLock { $0.updates }.compactMap { update in
            if case .frame(let frame) = update { frame } else { nil }
        }
        let kept = frames.filter { $0.t >= start && $0.t <= end }.prefix(limit)
        return kept.map { broken($0) { $0.error = .infinity } }
    }

    func events() async -> [LiveMapEvent] {
        let events = state.withLock { $0.updates }.compactMap { update in
            if case .event(let event) = update { event } else { nil }
        }
        return events.map { broken($0) { $0.t = .nan } }
    }

    func radioMap() async -> LiveMapRadioMap? {
        guard state.withLock({ $0.hasRadioMap }) else { return nil }
        let radioMap: LiveMapRadioMap = Self.decoded(
            """
            {"beacons": [{"id": "f7826da6/1/2", "grids": [{"mapId": 1, "columns": 2, "rows": 1, "cellSize": 1,
            "expected": "xMQ=", "deviation": "HiA="}],
            "findings": ["Check the battery."]}],
            "survey": [{"mapId": 1, "x": 1, "y": 2, "readings": 30, "duration": 12}],
            "residuals": [{"point": 0, "beacon": 0, "rssi": -60, "predicted": -62}],
            "surveyGaps": [{"mapId": 1, "area": 1, "x": 8, "y": 2, "cellSize": 1, "cells": [8, 2]}],
            "advice": ["Walk the right of the hall."]}
            """)
        return broken(radioMap) { $0.survey[0].x = .nan }
    }

    func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate> {
        let (stream, continuation) = AsyncStream<LiveMapUpdate>.makeStream()
        state.withLock { state in
            state.started += 1
            let number = state.started
            state.readers[number] = continuation
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
            }
            let kept = state.updates.drop { update in id.map { Self.number(of: update) <= $0 } ?? true }
            for update in id == nil ? state.updates.suffix(1) : kept { continuation.yield(update) }
        }
        return stream
    }

    private static func number(of update: LiveMapUpdate) -> Int {
        switch update {
        case .frame(let frame): frame.id
        case .event(let event): event.id
        case .overview(let id): id
        }
    }

    func mark(_ place: LiveMapFrame.Place) async -> String? {
        state.withLock { state in
            if state.refusal == nil { state.marks.append(place) }
            return state.refusal
        }
    }
}
