import IndoorLocalizationTesting
import LiveSurvey
import XCTest

/// What work on a thread of its own reports.
final class BackgroundThreadTests: XCTestCase {
    func testReportsArriveInTheirOrderBeforeTheValue() async {
        let hasEnded = WatchedState(false)
        let received = WatchedState<[Int]>([])
        let value = await BackgroundThread.run(at: .usual) { progress in
            // A receiver that is slower than the work.
            try? await hasEnded.wait { $0 }
            await Task.yield()
            received.update { $0.append(progress.done) }
        } _: { report -> String in
            for step in 1...100 { report(BackgroundThread.Progress(done: step, steps: 100)) }
            hasEnded.update { $0 = true }
            return "the map"
        }
        XCTAssertEqual(value, "the map")
        XCTAssertEqual(received.value, Array(1...100))
    }
}
