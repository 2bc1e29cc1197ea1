import SessionMetrics
import XCTest

final class MetricTextTests: XCTestCase {
    private let families = [
        MetricFamily(
            "app_errors", .counter, help: "Errors \"by\" code\\kind.\nSecond line.",
            samples: [
                .init(.number(3), labels: [.init("code", "a\\b\"c\nd"), .init("kind", "ä")]),
                .init(.number(0.5)),
            ]),
        MetricFamily("app_radius_meters", .gauge, unit: .meters, help: "Radius.", samples: [.init(.number(2.25))]),
        MetricFamily(
            "app_step_seconds", .histogram, unit: .seconds, help: "Steps.",
            samples: [.init(.histogram(bounds: [0.001, 1], counts: [2, 0, 1], sum: 3.5), labels: [.init("k", "v")])]),
        MetricFamily(
            "app_state", .stateSet, help: "State.",
            samples: [
                .init(.number(1), labels: [.init("app_state", "on")]),
                .init(.number(0), labels: [.init("app_state", "off")]),
            ]),
        MetricFamily("app_unknown_ratio", .gauge, unit: .ratio, help: "Unknown."),
    ]

    func testTheWriterWritesOpenMetrics() {
        XCTAssertEqual(
            MetricText.text(of: families),
            #"""
            # TYPE app_errors counter
            # HELP app_errors Errors \"by\" code\\kind.\nSecond line.
            app_errors_total{code="a\\b\"c\nd",kind="ä"} 3
            app_errors_total 0.5
            # TYPE app_radius_meters gauge
            # UNIT app_radius_meters meters
            # HELP app_radius_meters Radius.
            app_radius_meters 2.25
            # TYPE app_step_seconds histogram
            # UNIT app_step_seconds seconds
            # HELP app_step_seconds Steps.
            app_step_seconds_bucket{k="v",le="0.001"} 2
            app_step_seconds_bucket{k="v",le="1.0"} 2
            app_step_seconds_bucket{k="v",le="+Inf"} 3
            app_step_seconds_sum{k="v"} 3.5
            app_step_seconds_count{k="v"} 3
            # TYPE app_state stateset
            # HELP app_state State.
            app_state{app_state="on"} 1
            app_state{app_state="off"} 0
            # TYPE app_unknown_ratio gauge
            # UNIT app_unknown_ratio ratio
            # HELP app_unknown_ratio Unknown.
            # EOF

            """#)
    }

    func testTheWriterWritesTheTextFormatOfPrometheus() {
        let text = MetricText.text(of: families, as: .prometheus)
        XCTAssertTrue(
            text.hasPrefix(
                #"""
                # TYPE app_errors_total counter
                # HELP app_errors_total Errors "by" code\\kind.\nSecond line.
                app_errors_total{code="a\\b\"c\nd",kind="ä"} 3

                """#), text)
        XCTAssertTrue(text.contains("# TYPE app_state gauge\n"), text)
        XCTAssertFalse(text.contains("# UNIT"), text)
        XCTAssertFalse(text.contains("# EOF"), text)
    }

    func testNumbersThatAreNotFiniteHaveTheirNamesInTheFormat() {
        let numbers = [Double.nan, .infinity, -.infinity, 1e300, -0.000001, 9_007_199_254_740_992]
        let family = MetricFamily("a", .gauge, help: "A.", samples: numbers.map { .init(.number($0)) })
        let lines = MetricText.text(of: [family]).split(separator: "\n").filter { !$0.hasPrefix("#") }
        XCTAssertEqual(lines, ["a NaN", "a +Inf", "a -Inf", "a 1e+300", "a -1e-06", "a 9007199254740992.0"])
    }
}
