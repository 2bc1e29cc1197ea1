import Foundation
import LiveMap
import XCTest

/// The layout on screens of every size, and the legibility of the text.
final class LayoutTests: ShownMapCase {
    private static let sizes = [(320, 568), (360, 740), (820, 1180), (1024, 600), (1440, 900)]

    func testNoControlOverlapsAnotherAndNoPageScrollsSideways() throws {
        let map = try savedPage(isTouch: true)
        for (width, height) in Self.sizes {
            try map.page.setViewport(width: width, height: height, isTouch: width < 900)
            for t in [101.0, 118] {
                try map.page.run("scrollTo(0, 0)")
                try map.seek(to: t)
                for hasMenu in [false, true] {
                    try map.page.run("document.getElementById('layers').open = \(hasMenu)")
                    try map.waitForDrawing()
                    let place = "\(width) × \(height) at \(t), menu \(hasMenu)"
                    XCTAssertFalse(try map.page.scrollsSideways, place)
                    // The player sticks to the lower edge of a telephone's screen, over the panels that scroll below it.
                    let found = try map.page.misplacedControls(grounds: "#plan, #panels *")
                    XCTAssertEqual(found, [], place)
                    XCTAssertEqual(try map.page.misplacedControls(grounds: "#plan, #player *, #timeline"), [], place)
                }
            }
        }
    }

    func testTheHelpFitsOnATelephone() throws {
        let map = try savedPage(width: 360, height: 740, isTouch: true)
        try map.click("#help-open")
        try map.page.wait(until: "document.getElementById('help').open")
        let help = try map.box(of: "#help")
        XCTAssertGreaterThanOrEqual(help.left, 0)
        XCTAssertLessThanOrEqual(help.left + help.width, 360)
        XCTAssertLessThanOrEqual(help.height, 740)
        XCTAssertFalse(try map.page.scrollsSideways)
    }

    func testEachTextHasEnoughContrastInLightAndDark() throws {
        for isDark in [false, true] {
            let map = try savedPage(preferences: .init(isDark: isDark))
            for t in [101.0, 118] {
                try map.seek(to: t)
                try map.page.run("document.getElementById('layers').open = true")
                let found = try map.page.textsOfLowContrast(backdrop: try map.page.rootProperty("--plan"))
                XCTAssertEqual(found, [], "dark \(isDark) at \(t)")
            }
            // The texts on the canvases.
            let pairs = [
                ("room-text", "room"), ("room-text", "plan"), ("fence", "halo"), ("point", "halo"), ("heard", "halo"),
                ("truth", "halo"), ("text", "panel"), ("quiet", "panel"), ("truth", "panel"), ("text", "ground"),
            ]
            for (ink, ground) in pairs {
                let names = ("--" + ink, "--" + ground)
                let contrast = try map.page.contrast(
                    of: try map.page.rootProperty(names.0), on: try map.page.rootProperty(names.1))
                XCTAssertGreaterThanOrEqual(contrast, 4.5, "\(ink) on \(ground), dark \(isDark)")
            }
        }
    }

    func testEachControlHasANameForScreenReaders() throws {
        let map = try savedPage()
        try map.seek(to: 118)
        try map.page.run("document.getElementById('layers').open = true")
        let controls = try map.page.spokenControls()
        XCTAssertGreaterThan(controls.count, 20)
        for control in controls { XCTAssertNotEqual(control.name, "", control.role) }
    }
}
