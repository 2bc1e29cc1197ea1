import Foundation
import LiveMap
import XCTest

/// The beacons over weeks on the live map, in a browser.
final class BeaconHistoryPageTests: BrowserTestCase {
    private func shown(_ history: LiveMapRoutes.BeaconHistory?) throws -> BrowserPage {
        let stage = try stagedDevice()
        let server = try LiveMapServer(
            routes: LiveMapRoutes(content: stage.content, metrics: nil, beaconHistory: history),
            listener: try LiveMapListener(try LiveMapAddress("127.0.0.1:0"), token: nil))
        addTeardownBlock { server.stop() }
        let page = try page()
        try page.setViewport(width: 390, height: 844, isTouch: true)
        try page.open(server.url)
        try ShownMap(page: page).waitUntilReady()
        return page
    }

    private func label(_ page: BrowserPage) throws -> String {
        try page.evaluate("document.querySelector('#history-chart svg').getAttribute('aria-label')")
    }

    func testAFadingBeaconHasAChartAndAnAdvice() throws {
        let page = try shown { _ in StagedHistory.text }
        let map = ShownMap(page: page)
        try page.wait(until: "!document.querySelector('#history-chart').hidden")
        XCTAssertEqual(
            try map.text(of: "#history-summary"), "41 days from 2026-01-01 to 2026-02-10. 3 beacons need work.")
        let list = try map.text(of: "#history-list")
        XCTAssertTrue(list.contains("falls by 0.7 ± 0.1 dB a week since 2026-01-01"), list)
        XCTAssertTrue(list.contains("replace the battery"), list)
        XCTAssertFalse(list.contains("1/11"), "a healthy beacon needs no work: \(list)")
        XCTAssertTrue(try label(page).hasPrefix("Level of beacon 1/12 from 2026-01-01 to 2026-02-10"))
        XCTAssertTrue(try map.text(of: "#history-chart p").contains("corrects it by −3.4 dB"))
        // The line falls from the left to the right, and has a point for each day.
        XCTAssertTrue(
            try page.evaluate(
                """
                (() => {
                    const points = document.querySelector('#history-chart .levels').getAttribute('d').slice(1).split('L')
                        .map((one) => one.split(' ').map(Number));
                    return points.length === 41 && points.at(-1)[0] > points[0][0] + 200 && points.at(-1)[1] > points[0][1] + 20;
                })()
                """) as Bool)
        XCTAssertLessThanOrEqual(try page.evaluate("document.documentElement.scrollWidth") as Int, 390)
        try map.assertLegible(at: [(390, 844), (1280, 800)])
        // The keyboard chooses another beacon.
        try page.run("document.querySelectorAll('#history-list button')[1].focus()")
        try page.press(.enter)
        XCTAssertTrue(try label(page).hasPrefix("Level of beacon 1/13"))
        XCTAssertTrue(
            try page.evaluate(
                "document.querySelector('#history-list button[aria-pressed=true]').textContent === '1/13'") as Bool)
        try page.run(
            """
            const choice = document.querySelector('#history-choice');
            choice.value = [...choice.options].find((one) => one.text === '1/11').value;
            choice.dispatchEvent(new Event('change'));
            """)
        XCTAssertTrue(try label(page).hasPrefix("Level of beacon 1/11"))
        XCTAssertEqual(page.problems, [])
    }

    func testASessionWithoutAHistoryHasNoPanel() throws {
        let page = try shown(nil)
        XCTAssertTrue(try page.evaluate("document.querySelector('#beacon-history').hidden") as Bool)
        XCTAssertEqual(page.problems, [])
    }
}
