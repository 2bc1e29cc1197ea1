import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// Plugins that follow the device's motion, whether it is in a venue or in none.
final class PluginMotionTests: XCTestCase {
    private actor Reckoning: LocalizationPlugin {
        nonisolated let estimates = WatchedState<[MotionEstimate]>([])
        nonisolated let positions = WatchedState<Int>(0)

        func initialize(host: PluginHost, arguments: PluginStreams) async -> Bool {
            await host.subscribe(self, to: arguments)
            return true
        }

        func receive(motion: MotionEstimate) { estimates.update { $0.append(motion) } }
        func receive(position: Position) { positions.update { $0 += 1 } }
    }

    private func walk() -> [SensorReading] {
        var device = CarriedDevice()
        return device.samples(10, steps: 2)
    }

    func testADeadReckoningPluginReceivesEveryEstimateWithoutAVenue() async throws {
        let localizer = Localizer(source: ScriptedSource(walk()), venues: VenueLibrary([]))
        let told = localizer.motion
        let host = PluginHost(localizer: localizer, queueCapacity: nil)
        let kept = await host.add(Reckoning(), arguments: .motion)
        let plugin = try XCTUnwrap(kept)
        try await host.startServices()
        let all = try await Bounded.elements(of: told, until: "the last estimate") { $0.instant.seconds > 9.85 }
        XCTAssertGreaterThan(all.count, 90)
        try await Bounded.wait(for: "all estimates") { try await plugin.estimates.wait { $0.count >= all.count } }
        XCTAssertEqual(Array(plugin.estimates.value.prefix(all.count)), all)
        let last = try XCTUnwrap(all.last)
        XCTAssertEqual(last.kind, .walking)
        XCTAssertGreaterThan(last.position.length, 8)
        XCTAssertEqual(plugin.positions.value, 0)
    }

    func testMotionIsAStreamOfItsOwn() async throws {
        let localizer = Localizer(source: ScriptedSource(walk()), venues: VenueLibrary([]))
        let host = PluginHost(localizer: localizer, queueCapacity: nil)
        let (other, plugin) = (Reckoning(), Reckoning())
        await host.add(other, arguments: .all)
        await host.add(plugin, arguments: [.all, .motion])
        let streams = await host.streams(of: plugin)
        XCTAssertEqual(streams.rawValue, 63)
        try await host.startServices()
        try await Bounded.wait(for: "estimates") { try await plugin.estimates.wait { $0.count >= 50 } }
        XCTAssertEqual(other.estimates.value, [], "the five of NavisensCore have no motion of their own")
    }
}
