import BeaconScanning
import Dispatch
import Foundation
import IndoorVocabulary
import LocalizationSession
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// A fleet without a floor plan: two gateways, a trained kitchen and cellar, and a tag that is in the
/// kitchen.
final class StagedRooms: Sendable {
    private final class Result: Sendable {
        private let stored = Guarded<[FleetOutput]>([])

        var outputs: [FleetOutput] { stored.withLock { $0 } }

        func set(_ outputs: [FleetOutput]) { stored.withLock { $0 = outputs } }
    }

    static let gateways = ["kitchen", "cellar"]
    static let tag = "C3:00:00:12:AB:34"

    let engine: FleetEngine
    let desk: RoomDesk
    /// The file of the training.
    let path: String
    /// The outputs until the creation of the stage.
    let start: [FleetOutput]
    private let clock = Clock()

    private final class Clock: Sendable {
        private let instant = Guarded(TagStage.start)

        var now: Instant { instant.withLock { $0 } }

        func advance() -> Instant {
            instant.withLock { instant in
                instant = instant.advanced(by: .seconds(1))
                return instant
            }
        }
    }

    /// Creates the fleet; its tag has been heard for ten seconds.
    init(path: String? = nil, rooms: [String] = ["Kitchen", "Cellar"]) throws {
        self.path =
            path ?? FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json").path
        var training = RoomTrainingSet()
        for room in rooms { training.rooms[room] = Self.fingerprint(room) }
        let setup = FleetEngine.Setup(model: FleetModel(venue: TagRoom.venue(rooms)), rooms: training)
        engine = try FleetEngine.start(setup, in: nil, at: TagStage.start).engine
        desk = RoomDesk(engine, path: self.path) { [clock] in clock.now }
        start = Self.step(engine, clock, in: "Kitchen", seconds: 10)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the levels at which the gateways hear a tag in a room, in dBm.
    private static func levels(_ room: String) -> [Int] {
        switch room {
        case "Kitchen": [-50, -80]
        case "Cellar": [-80, -50]
        default: [-68, -66]
        }
    }

    private static func fingerprint(_ room: String) -> RoomFingerprint {
        RoomFingerprint(
            samples: (0..<40).map { second in
                RoomFingerprint.Sample(
                    timestamp: Double(second),
                    rssi: Dictionary(
                        uniqueKeysWithValues: zip(gateways, levels(room)).map { gateway, level in
                            (VenueReceiver.identity(for: gateway), Double(level + second % 5 - 2))
                        }))
            })
    }

    /// Lets the gateways hear the tag for some seconds in a room, and returns the outputs.
    func step(in room: String, seconds: Int) -> [FleetOutput] {
        Self.step(engine, clock, in: room, seconds: seconds)
    }

    private static func step(_ engine: FleetEngine, _ clock: Clock, in room: String, seconds: Int) -> [FleetOutput] {
        var outputs: [FleetOutput] = []
        for second in 0..<seconds {
            let now = clock.advance()
            let messages = zip(Self.gateways, Self.levels(room)).map { gateway, level in
                GatewayMessage(
                    topic: "home/\(gateway)/BTtoMQTT/\(Self.tag.filter { $0 != ":" })",
                    payload: Array(#"{"id":"\#(Self.tag)","rssi":\#(level + second % 5 - 2)}"#.utf8), arrival: now)
            }
            let done = DispatchSemaphore(value: 0)
            let result = Result()
            Task.detached {
                result.set(await engine.step(messages, to: now).outputs)
                done.signal()
            }
            done.wait()
            outputs += result.outputs
        }
        return outputs
    }

    /// Starts to train a room with the tag, which gateways hear for some seconds in it.
    func train(_ room: String, seconds: Int) {
        let done = DispatchSemaphore(value: 0)
        Task.detached { [desk] in
            try? await desk.start(room, with: .address(DeviceAddress(Self.tag) ?? DeviceAddress(rawValue: 0)))
            done.signal()
        }
        done.wait()
        _ = step(in: room, seconds: seconds)
    }

    /// Returns the latest room of the tag.
    func room() throws -> FleetOutput.Content {
        try XCTUnwrap(
            step(in: "Kitchen", seconds: 3).last { if case .room = $0.content { true } else { false } }?.content)
    }
}
