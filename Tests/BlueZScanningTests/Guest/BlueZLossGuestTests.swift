import BlueZScanning
import IndoorLocalization
import XCTest

/// The share of advertisements that bluetoothd reports, as documented.
final class BlueZLossGuestTests: GuestTestCase {
    /// Returns the share of reports of ten beacons at 10 Hz, with an RSSI that changes each time.
    private func share(
        isExperimental: Bool, duplicateCapacity: Int, seconds: Double = 6
    ) async throws -> (share: Double, longestSilence: Double) {
        let controller = try await pluggedIn(duplicateCapacity: duplicateCapacity)
        let services = try await services(isExperimental: isExperimental)
        let listening = listening(to: BlueZScanSource())
        try await listening.wait(for: .scanning)
        let schedule = (0..<Int(seconds * 100)).map { index in
            var transmission = BeaconSeries.transmission(index % 10)
            transmission.rssi = Int8(-40 - (index / 10) % 50)
            return (at: Double(index) / 100, transmission: transmission)
        }
        let start = Guest.present
        try await controller.play(schedule)
        let end = Guest.present
        try await listening.stop()
        try await services.endAll()
        try await controller.unplug()
        let sightings = listening.heard.value.sightings
        var longest = 0.0
        for beacon in 0..<UInt16(10) {
            let heard = [start] + sightings.filter { $0.beacon.minor == beacon }.map(\.instant) + [end]
            for (earlier, later) in zip(heard, heard.dropFirst()) {
                longest = max(longest, earlier.duration(to: later).seconds)
            }
        }
        return (Double(sightings.count) / Double(schedule.count), longest)
    }

    func testEachBeaconIsReportedOftenEnoughToBeTracked() async throws {
        for (isExperimental, capacity) in [(false, 4), (false, 1000), (true, 1000)] {
            let result = try await share(isExperimental: isExperimental, duplicateCapacity: capacity)
            print(
                "| D-Bus\(isExperimental ? " with a monitor" : ""), duplicate filter of \(capacity): "
                    + "\((result.share * 100).rounded()) % of 10 beacons at 10 Hz reported, "
                    + "longest silence \((result.longestSilence * 10).rounded() / 10) s")
            XCTAssertLessThan(result.longestSilence, 4, "seconds; monitor \(isExperimental), filter of \(capacity)")
            XCTAssertLessThanOrEqual(result.share, 1, "no report is invented")
        }
    }
}
