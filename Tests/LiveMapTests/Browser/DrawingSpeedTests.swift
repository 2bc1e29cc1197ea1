import Foundation
import LiveMap
import XCTest

/// The work for drawing 10,000 particles at 30 frames a second.
///
/// `.ci/tools/drawing-speed` prints the figures for a browser on one core.
final class DrawingSpeedTests: ShownMapCase {
    private static let particleCount = 10_000

    /// What the page has measured, in milliseconds.
    private struct Timing: Decodable {
        /// The time in the callback of each refresh of the screen that drew.
        var durations: [Double]
        /// The number of calls of canvas functions in each of them.
        var calls: [Double]
        /// The time from the first to the last refresh.
        var span: Double
        /// The time to draw as many squares with a call each.
        var baseline: [Double]

        static func quantile(_ values: [Double], _ fraction: Double) -> Double {
            let sorted = values.sorted()
            return sorted.isEmpty ? .nan : sorted[Int(fraction * Double(sorted.count - 1))]
        }
    }

    /// Measures each callback of `requestAnimationFrame`, and counts the calls of canvas functions in it.
    private static let script = """
        window.timing = { durations: [], calls: [], starts: [] };
        let calls = 0;
        for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(CanvasRenderingContext2D.prototype))) {
            if (typeof property.value !== "function") continue;
            CanvasRenderingContext2D.prototype[name] = function (...rest) {
                calls++;
                return property.value.apply(this, rest);
            };
        }
        const request = window.requestAnimationFrame;
        window.requestAnimationFrame = (callback) => request.call(window, (now) => {
            const callsBefore = calls;
            const start = performance.now();
            callback(now);
            if (calls === callsBefore) return;
            timing.durations.push(performance.now() - start);
            timing.calls.push(calls - callsBefore);
            timing.starts.push(now);
        });
        """

    /// Returns a session of 5 s with positions.
    private func document() -> LiveMapDocument {
        var document = SampleSession(particleCount: 0, framesPerSecond: 30).document
        // A few clouds in turn, so that each frame has a new one.
        let clouds = (0..<6).map { seed in
            SampleSession(particleCount: Self.particleCount).particles(
                around: .init(mapId: 1, x: 12, y: 12.5), seed: UInt64(seed), spread: 14)
        }
        document.frames = document.frames.filter { $0.t >= 106 && $0.t <= 111 }
        for index in document.frames.indices {
            document.frames[index].particles = [.init(mapId: 1, points: clouds[index % clouds.count])]
        }
        document.overview.start = 106
        document.overview.end = 111
        return document
    }

    func testTenThousandParticlesNeedFewCallsAndLessTimeThanASquareEach() throws {
        let map = try savedPage(document(), script: Self.script)
        try map.wait(until: "state.particles === \(Self.particleCount)")
        try map.page.run("for (const list of Object.values(timing)) { list.length = 0; }")
        try map.page.press(.space)
        try map.wait(until: "!state.playing")
        let timing = try map.page.evaluate(
            """
            (() => {
                const result = { ...timing, span: timing.starts.at(-1) - timing.starts[0], baseline: [] };
                const { width, height } = document.getElementById("canvas-particles");
                const context = Object.assign(document.createElement("canvas"), { width, height })
                    .getContext("2d", { willReadFrequently: true });
                for (let turn = 0; turn < 15; turn++) {
                    const start = performance.now();
                    context.clearRect(0, 0, width, height);
                    for (let index = 0; index < \(Self.particleCount); index++) {
                        context.fillRect((index * 7919) % width, (index * 104729) % height, 2, 2);
                    }
                    // Reading a pixel waits for the drawing.
                    context.getImageData(0, 0, 1, 1);
                    result.baseline.push(performance.now() - start);
                }
                return result;
            })()
            """, as: Timing.self)
        let middle = Timing.quantile(timing.durations, 0.5)
        let baseline = Timing.quantile(timing.baseline, 0.5)
        let figures = [
            "median \(text(middle)) ms", "95 % within \(text(Timing.quantile(timing.durations, 0.95))) ms",
            "longest \(text(timing.durations.max() ?? .nan)) ms", "\(timing.durations.count) drawings",
            "\(text(1000 * Double(timing.durations.count - 1) / timing.span)) drawings a second",
            "\(Int(Timing.quantile(timing.calls, 0.5))) canvas calls a drawing",
            "\(text(baseline)) ms for a square each",
        ]
        print("drawing of \(Self.particleCount) particles: \(figures.joined(separator: ", "))")
        XCTAssertGreaterThan(timing.durations.count, 5)
        // A call for each particle would be 10,000 calls.
        XCTAssertLessThan(timing.calls.max() ?? .infinity, 1000)
        // Both were measured in the same run, so that the machine's speed cancels out. The limit is generous.
        XCTAssertLessThan(middle, 4 * baseline, "\(figures)")
        XCTAssertEqual(map.page.problems, [])
    }

    private func text(_ value: Double) -> String { String(format: "%.1f", value) }
}
