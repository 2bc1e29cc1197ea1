import IndoorLocalization
import XCTest

final class LocalizationSettingsTests: XCTestCase {
    private typealias Change = @Sendable (inout LocalizationSettings) -> Void

    private func problems(_ change: Change) -> [String] {
        var settings = LocalizationSettings()
        change(&settings)
        return settings.problems
    }

    func testTheDefaultsAreInRange() {
        XCTAssertEqual(LocalizationSettings().problems, [])
    }

    func testEachKeyOutOfRangeIsNamedWithItsRangeAndItsValue() {
        let day = "86400"
        let cases: [(String, Change)] = [
            ("rssiThreshold must be in [-127, 0] dBm, not 1", { $0.rssiThreshold = 1 }),
            ("rssiThreshold must be in [-127, 0] dBm, not nan", { $0.rssiThreshold = .nan }),
            ("positionInterval must be in [0.05, \(day)] s, not 0.049", { $0.positionInterval = .milliseconds(49) }),
            ("venueLostTimeout must be above 0 and at most \(day) s, not 0", { $0.venueLostTimeout = .zero }),
            ("areaDwell must be in [0, \(day)] s, not -1", { $0.areaDwell = .seconds(-1) }),
            ("retryPause must be above 0 and at most \(day) s, not 0", { $0.retryPause = .zero }),
            ("venueSearch.window must be above 0 and at most \(day) s, not 0", { $0.venueSearch.window = .zero }),
            ("venueSearch.lead must be in [1, 1000], not 0.9", { $0.venueSearch.lead = 0.9 }),
            (
                "venueSearch.contestedTime must be in [0, \(day)] s, not -1",
                { $0.venueSearch.contestedTime = .seconds(-1) }
            ),
            (
                "venueSearch.takeoverTime must be in [0, \(day)] s, not 86401",
                { $0.venueSearch.takeoverTime = .seconds(86_401) }
            ),
            ("venueSearch.gnssAccuracy must be in [0, 10000] m, not -1", { $0.venueSearch.gnssAccuracy = -1 }),
            ("venueSearch.gnssCount must be in [1, 1000], not 0", { $0.venueSearch.gnssCount = 0 }),
            (
                "venueSearch.gnssSilence must be in [0, \(day)] s, not -1",
                { $0.venueSearch.gnssSilence = .seconds(-1) }
            ),
            ("floor.settleProbability must be in [0.5, 1], not 0.49", { $0.floor.settleProbability = 0.49 }),
            ("floor.switchProbability must be in [0.5, 1], not 1.01", { $0.floor.switchProbability = 1.01 }),
            ("floor.patience must be in [0, \(day)] s, not -1", { $0.floor.patience = .seconds(-1) }),
            ("floor.switchTime must be in [0, \(day)] s, not -1", { $0.floor.switchTime = .seconds(-1) }),
            (
                "positioning.particleCount must be in [100, 1000000], not 99",
                { $0.positioning.particleCount = 99 }
            ),
            (
                "positioning.globalUpdateInterval must be in [0.1, 60] s, not 0",
                { $0.positioning.globalUpdateInterval = 0 }
            ),
            ("positioning.recoveryShare must be in [0, 1], not 1.1", { $0.positioning.recoveryShare = 1.1 }),
            ("positioning.levelShare must be in [0, 10], not nan", { $0.positioning.levelShare = .nan }),
            ("positioning.priorShare must be in [0, 10], not -0.1", { $0.positioning.priorShare = -0.1 }),
            ("positioning.radiusFloor must be in [0, 1000] m, not -1", { $0.positioning.radiusFloor = -1 }),
            ("positioning.radiusFactor must be in [0, 100], not 101", { $0.positioning.radiusFactor = 101 }),
            (
                "venueSearch.takeoverBeacons must be in [1, 1000], not 0",
                { $0.venueSearch.takeoverBeacons = 0 }
            ),
            (
                "venueSearch.gnssFarDistance must be in [0, 10000000] m, not -1",
                { $0.venueSearch.gnssFarDistance = -1 }
            ),
            (
                "venueSearch.outdoorAccuracy must be in [0, 10000] m, not nan",
                { $0.venueSearch.outdoorAccuracy = .nan }
            ),
            (
                "venueSearch.gnssRSSILimit must be in [-127, 0] dBm, not 1",
                { $0.venueSearch.gnssRSSILimit = 1 }
            ),
        ]
        for (problem, change) in cases { XCTAssertEqual(problems(change), [problem]) }
    }

    func testTheEdgesOfTheRangesAreAllowed() {
        let changes: [Change] = [
            { $0.rssiThreshold = 0 }, { $0.rssiThreshold = -127 }, { $0.positionInterval = .milliseconds(50) },
            { $0.venueLostTimeout = .seconds(86_400) }, { $0.areaDwell = .zero }, { $0.retryPause = .nanoseconds(1) },
            { $0.venueSearch.lead = 1 }, { $0.venueSearch.gnssCount = 1 }, { $0.venueSearch.contestedTime = .zero },
            { $0.floor.settleProbability = 0.5 }, { $0.floor.switchProbability = 1 }, { $0.floor.patience = .zero },
            { $0.positioning.particleCount = 100 },
        ]
        for (index, change) in changes.enumerated() { XCTAssertEqual(problems(change), [], "change \(index)") }
    }

    func testAllProblemsAreFoundInOnePass() {
        XCTAssertEqual(
            problems {
                $0.areaDwell = .seconds(-1)
                $0.floor.patience = .seconds(-1)
            }.count, 2)
    }
}
