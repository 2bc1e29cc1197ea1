#include "CLiveMapPage.h"

// The C compiler of the oldest supported toolchain, Swift 6.2, is built from LLVM's branch stable/20240723, the start of
// Clang 19. Clang has #embed since version 19, in each language standard, and warns before C23.
#ifndef __has_embed
#error "The page needs a C compiler with #embed: the Clang of Swift 6.2 or later"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

// To add a file to the page, add its array and its row, in alphabetical order.
static const unsigned char alert_panel_js[] = {
#embed "page/alert-panel.js"
};
static const unsigned char api_js[] = {
#embed "page/api.js"
};
static const unsigned char app_js[] = {
#embed "page/app.js"
};
static const unsigned char base64_js[] = {
#embed "page/base64.js"
};
static const unsigned char beacon_history_js[] = {
#embed "page/beacon-history.js"
};
static const unsigned char beacon_table_js[] = {
#embed "page/beacon-table.js"
};
static const unsigned char clock_js[] = {
#embed "page/clock.js"
};
static const unsigned char cluster_panel_js[] = {
#embed "page/cluster-panel.js"
};
static const unsigned char clusters_js[] = {
#embed "page/clusters.js"
};
static const unsigned char controls_js[] = {
#embed "page/controls.js"
};
static const unsigned char dom_js[] = {
#embed "page/dom.js"
};
static const unsigned char edit_app_js[] = {
#embed "page/edit-app.js"
};
static const unsigned char edit_checks_js[] = {
#embed "page/edit-checks.js"
};
static const unsigned char edit_controls_js[] = {
#embed "page/edit-controls.js"
};
static const unsigned char edit_coverage_js[] = {
#embed "page/edit-coverage.js"
};
static const unsigned char edit_fields_js[] = {
#embed "page/edit-fields.js"
};
static const unsigned char edit_floor_js[] = {
#embed "page/edit-floor.js"
};
static const unsigned char edit_geometry_js[] = {
#embed "page/edit-geometry.js"
};
static const unsigned char edit_history_js[] = {
#embed "page/edit-history.js"
};
static const unsigned char edit_list_js[] = {
#embed "page/edit-list.js"
};
static const unsigned char edit_main_js[] = {
#embed "page/edit-main.js"
};
static const unsigned char edit_problems_js[] = {
#embed "page/edit-problems.js"
};
static const unsigned char edit_scene_js[] = {
#embed "page/edit-scene.js"
};
static const unsigned char edit_simulation_js[] = {
#embed "page/edit-simulation.js"
};
static const unsigned char edit_store_js[] = {
#embed "page/edit-store.js"
};
static const unsigned char edit_tools_js[] = {
#embed "page/edit-tools.js"
};
static const unsigned char edit_walk_js[] = {
#embed "page/edit-walk.js"
};
static const unsigned char edit_css[] = {
#embed "page/edit.css"
};
static const unsigned char edit_html[] = {
#embed "page/edit.html"
};
static const unsigned char error_chart_js[] = {
#embed "page/error-chart.js"
};
static const unsigned char event_list_js[] = {
#embed "page/event-list.js"
};
static const unsigned char facts_js[] = {
#embed "page/facts.js"
};
static const unsigned char floors_js[] = {
#embed "page/floors.js"
};
static const unsigned char format_js[] = {
#embed "page/format.js"
};
static const unsigned char frame_store_js[] = {
#embed "page/frame-store.js"
};
static const unsigned char gestures_js[] = {
#embed "page/gestures.js"
};
static const unsigned char images_js[] = {
#embed "page/images.js"
};
static const unsigned char index_html[] = {
#embed "page/index.html"
};
static const unsigned char inspection_js[] = {
#embed "page/inspection.js"
};
static const unsigned char interpolation_js[] = {
#embed "page/interpolation.js"
};
static const unsigned char json_source_js[] = {
#embed "page/json-source.js"
};
static const unsigned char keys_js[] = {
#embed "page/keys.js"
};
static const unsigned char layer_edit_js[] = {
#embed "page/layer-edit.js"
};
static const unsigned char layer_particles_js[] = {
#embed "page/layer-particles.js"
};
static const unsigned char layer_plan_js[] = {
#embed "page/layer-plan.js"
};
static const unsigned char layer_radio_map_js[] = {
#embed "page/layer-radio-map.js"
};
static const unsigned char layer_session_js[] = {
#embed "page/layer-session.js"
};
static const unsigned char layer_simulation_js[] = {
#embed "page/layer-simulation.js"
};
static const unsigned char layer_tags_js[] = {
#embed "page/layer-tags.js"
};
static const unsigned char layer_tiles_js[] = {
#embed "page/layer-tiles.js"
};
static const unsigned char layer_venue_js[] = {
#embed "page/layer-venue.js"
};
static const unsigned char layers_menu_js[] = {
#embed "page/layers-menu.js"
};
static const unsigned char main_js[] = {
#embed "page/main.js"
};
static const unsigned char marks_js[] = {
#embed "page/marks.js"
};
static const unsigned char memory_js[] = {
#embed "page/memory.js"
};
static const unsigned char overview_js[] = {
#embed "page/overview.js"
};
static const unsigned char page_css[] = {
#embed "page/page.css"
};
static const unsigned char palette_js[] = {
#embed "page/palette.js"
};
static const unsigned char panels_css[] = {
#embed "page/panels.css"
};
static const unsigned char past_panel_js[] = {
#embed "page/past-panel.js"
};
static const unsigned char past_timeline_js[] = {
#embed "page/past-timeline.js"
};
static const unsigned char plan_js[] = {
#embed "page/plan.js"
};
static const unsigned char radio_panel_js[] = {
#embed "page/radio-panel.js"
};
static const unsigned char rooms_app_js[] = {
#embed "page/rooms-app.js"
};
static const unsigned char rooms_main_js[] = {
#embed "page/rooms-main.js"
};
static const unsigned char rooms_css[] = {
#embed "page/rooms.css"
};
static const unsigned char rooms_html[] = {
#embed "page/rooms.html"
};
static const unsigned char scale_bar_js[] = {
#embed "page/scale-bar.js"
};
static const unsigned char source_document_js[] = {
#embed "page/source-document.js"
};
static const unsigned char source_live_js[] = {
#embed "page/source-live.js"
};
static const unsigned char source_recording_js[] = {
#embed "page/source-recording.js"
};
static const unsigned char survey_map_js[] = {
#embed "page/survey-map.js"
};
static const unsigned char survey_panel_js[] = {
#embed "page/survey-panel.js"
};
static const unsigned char survey_walks_js[] = {
#embed "page/survey-walks.js"
};
static const unsigned char survey_css[] = {
#embed "page/survey.css"
};
static const unsigned char tag_panels_js[] = {
#embed "page/tag-panels.js"
};
static const unsigned char tag_past_js[] = {
#embed "page/tag-past.js"
};
static const unsigned char tag_replay_js[] = {
#embed "page/tag-replay.js"
};
static const unsigned char tag_store_js[] = {
#embed "page/tag-store.js"
};
static const unsigned char tags_app_js[] = {
#embed "page/tags-app.js"
};
static const unsigned char tags_main_js[] = {
#embed "page/tags-main.js"
};
static const unsigned char tags_css[] = {
#embed "page/tags.css"
};
static const unsigned char tags_html[] = {
#embed "page/tags.html"
};
static const unsigned char theme_js[] = {
#embed "page/theme.js"
};
static const unsigned char timeline_js[] = {
#embed "page/timeline.js"
};
static const unsigned char venue_beacons_js[] = {
#embed "page/venue-beacons.js"
};
static const unsigned char venue_floors_js[] = {
#embed "page/venue-floors.js"
};
static const unsigned char venue_interactions_js[] = {
#embed "page/venue-interactions.js"
};
static const unsigned char venue_kinds_js[] = {
#embed "page/venue-kinds.js"
};
static const unsigned char venue_objects_js[] = {
#embed "page/venue-objects.js"
};
static const unsigned char venue_paths_js[] = {
#embed "page/venue-paths.js"
};
static const unsigned char venue_values_js[] = {
#embed "page/venue-values.js"
};
static const unsigned char venue_walk_js[] = {
#embed "page/venue-walk.js"
};
static const unsigned char view_js[] = {
#embed "page/view.js"
};

static const unsigned char openapi_json[] = {
#embed "openapi.json"
};
static const unsigned char openapi_tags_json[] = {
#embed "openapi-tags.json"
};

static const live_map_file files[] = {
    { "alert-panel.js", alert_panel_js, sizeof alert_panel_js },
    { "api.js", api_js, sizeof api_js },
    { "app.js", app_js, sizeof app_js },
    { "base64.js", base64_js, sizeof base64_js },
    { "beacon-history.js", beacon_history_js, sizeof beacon_history_js },
    { "beacon-table.js", beacon_table_js, sizeof beacon_table_js },
    { "clock.js", clock_js, sizeof clock_js },
    { "cluster-panel.js", cluster_panel_js, sizeof cluster_panel_js },
    { "clusters.js", clusters_js, sizeof clusters_js },
    { "controls.js", controls_js, sizeof controls_js },
    { "dom.js", dom_js, sizeof dom_js },
    { "edit-app.js", edit_app_js, sizeof edit_app_js },
    { "edit-checks.js", edit_checks_js, sizeof edit_checks_js },
    { "edit-controls.js", edit_controls_js, sizeof edit_controls_js },
    { "edit-coverage.js", edit_coverage_js, sizeof edit_coverage_js },
    { "edit-fields.js", edit_fields_js, sizeof edit_fields_js },
    { "edit-floor.js", edit_floor_js, sizeof edit_floor_js },
    { "edit-geometry.js", edit_geometry_js, sizeof edit_geometry_js },
    { "edit-history.js", edit_history_js, sizeof edit_history_js },
    { "edit-list.js", edit_list_js, sizeof edit_list_js },
    { "edit-main.js", edit_main_js, sizeof edit_main_js },
    { "edit-problems.js", edit_problems_js, sizeof edit_problems_js },
    { "edit-scene.js", edit_scene_js, sizeof edit_scene_js },
    { "edit-simulation.js", edit_simulation_js, sizeof edit_simulation_js },
    { "edit-store.js", edit_store_js, sizeof edit_store_js },
    { "edit-tools.js", edit_tools_js, sizeof edit_tools_js },
    { "edit-walk.js", edit_walk_js, sizeof edit_walk_js },
    { "edit.css", edit_css, sizeof edit_css },
    { "edit.html", edit_html, sizeof edit_html },
    { "error-chart.js", error_chart_js, sizeof error_chart_js },
    { "event-list.js", event_list_js, sizeof event_list_js },
    { "facts.js", facts_js, sizeof facts_js },
    { "floors.js", floors_js, sizeof floors_js },
    { "format.js", format_js, sizeof format_js },
    { "frame-store.js", frame_store_js, sizeof frame_store_js },
    { "gestures.js", gestures_js, sizeof gestures_js },
    { "images.js", images_js, sizeof images_js },
    { "index.html", index_html, sizeof index_html },
    { "inspection.js", inspection_js, sizeof inspection_js },
    { "interpolation.js", interpolation_js, sizeof interpolation_js },
    { "json-source.js", json_source_js, sizeof json_source_js },
    { "keys.js", keys_js, sizeof keys_js },
    { "layer-edit.js", layer_edit_js, sizeof layer_edit_js },
    { "layer-particles.js", layer_particles_js, sizeof layer_particles_js },
    { "layer-plan.js", layer_plan_js, sizeof layer_plan_js },
    { "layer-radio-map.js", layer_radio_map_js, sizeof layer_radio_map_js },
    { "layer-session.js", layer_session_js, sizeof layer_session_js },
    { "layer-simulation.js", layer_simulation_js, sizeof layer_simulation_js },
    { "layer-tags.js", layer_tags_js, sizeof layer_tags_js },
    { "layer-tiles.js", layer_tiles_js, sizeof layer_tiles_js },
    { "layer-venue.js", layer_venue_js, sizeof layer_venue_js },
    { "layers-menu.js", layers_menu_js, sizeof layers_menu_js },
    { "main.js", main_js, sizeof main_js },
    { "marks.js", marks_js, sizeof marks_js },
    { "memory.js", memory_js, sizeof memory_js },
    { "openapi-tags.json", openapi_tags_json, sizeof openapi_tags_json },
    { "openapi.json", openapi_json, sizeof openapi_json },
    { "overview.js", overview_js, sizeof overview_js },
    { "page.css", page_css, sizeof page_css },
    { "palette.js", palette_js, sizeof palette_js },
    { "panels.css", panels_css, sizeof panels_css },
    { "past-panel.js", past_panel_js, sizeof past_panel_js },
    { "past-timeline.js", past_timeline_js, sizeof past_timeline_js },
    { "plan.js", plan_js, sizeof plan_js },
    { "radio-panel.js", radio_panel_js, sizeof radio_panel_js },
    { "rooms-app.js", rooms_app_js, sizeof rooms_app_js },
    { "rooms-main.js", rooms_main_js, sizeof rooms_main_js },
    { "rooms.css", rooms_css, sizeof rooms_css },
    { "rooms.html", rooms_html, sizeof rooms_html },
    { "scale-bar.js", scale_bar_js, sizeof scale_bar_js },
    { "source-document.js", source_document_js, sizeof source_document_js },
    { "source-live.js", source_live_js, sizeof source_live_js },
    { "source-recording.js", source_recording_js, sizeof source_recording_js },
    { "survey-map.js", survey_map_js, sizeof survey_map_js },
    { "survey-panel.js", survey_panel_js, sizeof survey_panel_js },
    { "survey-walks.js", survey_walks_js, sizeof survey_walks_js },
    { "survey.css", survey_css, sizeof survey_css },
    { "tag-panels.js", tag_panels_js, sizeof tag_panels_js },
    { "tag-past.js", tag_past_js, sizeof tag_past_js },
    { "tag-replay.js", tag_replay_js, sizeof tag_replay_js },
    { "tag-store.js", tag_store_js, sizeof tag_store_js },
    { "tags-app.js", tags_app_js, sizeof tags_app_js },
    { "tags-main.js", tags_main_js, sizeof tags_main_js },
    { "tags.css", tags_css, sizeof tags_css },
    { "tags.html", tags_html, sizeof tags_html },
    { "theme.js", theme_js, sizeof theme_js },
    { "timeline.js", timeline_js, sizeof timeline_js },
    { "venue-beacons.js", venue_beacons_js, sizeof venue_beacons_js },
    { "venue-floors.js", venue_floors_js, sizeof venue_floors_js },
    { "venue-interactions.js", venue_interactions_js, sizeof venue_interactions_js },
    { "venue-kinds.js", venue_kinds_js, sizeof venue_kinds_js },
    { "venue-objects.js", venue_objects_js, sizeof venue_objects_js },
    { "venue-paths.js", venue_paths_js, sizeof venue_paths_js },
    { "venue-values.js", venue_values_js, sizeof venue_values_js },
    { "venue-walk.js", venue_walk_js, sizeof venue_walk_js },
    { "view.js", view_js, sizeof view_js },
};

size_t live_map_file_count(void) { return sizeof files / sizeof files[0]; }

live_map_file live_map_file_at(size_t index) { return files[index]; }
